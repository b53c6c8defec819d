package org.mdlagent.profiler;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;

/// Runs another collector by a [Schedule]: between periods all its functions are closed.
///
/// What somebody has closed by a request stays closed, and what was opened between periods waits for the next one.
///
/// Used by one thread, the agent's.
public final class ScheduledCollector extends DelegatingCollector {
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final Schedule schedule;
    private final IntPredicate isClosed;
    private final LongSupplier nanoTime;
    private final Set<Integer> waiting = new LinkedHashSet<>();
    private final Set<Integer> opened = new LinkedHashSet<>();
    private boolean on = true;
    private boolean begun;
    private long begin;

    /// @param isClosed whether a function is closed now
    /// @param nanoTime a clock
    public ScheduledCollector(Collector collector, Schedule schedule, IntPredicate isClosed, LongSupplier nanoTime) {
        super(collector);
        this.schedule = schedule;
        this.isClosed = isClosed;
        this.nanoTime = nanoTime;
    }

    @Override
    public void open(List<Integer> functions, boolean whole) {
        if (!begun) {
            begun = true;
            begin = nanoTime.getAsLong();
            on = schedule.isOn(0);
        }
        collector.open(functions, whole);
        opened.addAll(functions);
        if (!on) {
            pause();
        }
    }

    private long millis() {
        return (nanoTime.getAsLong() - begin) / NANOS_PER_MILLI;
    }

    private void pause() {
        List<Integer> open =
                opened.stream().filter(function -> !isClosed.test(function)).toList();
        waiting.addAll(open);
        collector.close(open);
    }

    private void goOn() {
        collector.reopen(new ArrayList<>(waiting));
        waiting.clear();
    }

    @Override
    public void reopen(List<Integer> functions) {
        if (on) {
            collector.reopen(functions);
        } else {
            waiting.addAll(functions);
        }
    }

    @Override
    public void close(List<Integer> functions) {
        functions.forEach(waiting::remove);
        collector.close(functions);
    }

    @Override
    public double tick() {
        if (begun && schedule.isOn(millis()) != on) {
            on = !on;
            if (on) {
                goOn();
            } else {
                pause();
            }
        }
        double wait = collector.tick();
        long now = begun ? millis() : 0;
        return Math.min(wait, (double) NANOS_PER_MILLI * (schedule.nextChange(now) - now));
    }
}
