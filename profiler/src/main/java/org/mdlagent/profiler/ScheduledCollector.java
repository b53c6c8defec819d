package org.mdlagent.profiler;

import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;

/// Runs another collector by a [Schedule]: between periods it is off.
///
/// Used by one thread, the agent's.
public final class ScheduledCollector extends PausingCollector {
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final Schedule schedule;
    private final LongSupplier nanoTime;
    private boolean begun;
    private long begin;

    /// @param isClosed whether a function is closed now
    /// @param nanoTime a clock
    public ScheduledCollector(Collector collector, Schedule schedule, IntPredicate isClosed, LongSupplier nanoTime) {
        super(collector, isClosed, schedule.isOn(0));
        this.schedule = schedule;
        this.nanoTime = nanoTime;
    }

    @Override
    public void open(List<Integer> functions, boolean whole) {
        if (!begun) {
            begun = true;
            begin = nanoTime.getAsLong();
        }
        super.open(functions, whole);
    }

    private long millis() {
        return (nanoTime.getAsLong() - begin) / NANOS_PER_MILLI;
    }

    @Override
    public double tick() {
        if (begun) {
            setOn(schedule.isOn(millis()));
        }
        double wait = collector.tick();
        long now = begun ? millis() : 0;
        return Math.min(wait, (double) NANOS_PER_MILLI * (schedule.nextChange(now) - now));
    }
}
