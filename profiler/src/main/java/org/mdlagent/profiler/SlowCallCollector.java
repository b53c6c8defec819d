package org.mdlagent.profiler;

import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.mdlagent.arch.shim.NativeApi;

/// Keeps slow calls beside what another collector collects.
///
/// Threads do that by themselves ([SlowCalls]). The agent adds where they wait, by looks between the other collector's
/// ticks.
///
/// Used by one thread, the agent's.
public final class SlowCallCollector extends DelegatingCollector {
    private final Runnable grow;
    private final Runnable look;
    private final LongSupplier nanoTime;
    private double dueNanos;

    /// @param grow     called before functions are opened
    /// @param look     called at each tick
    /// @param nanoTime a clock
    SlowCallCollector(Collector collector, Runnable grow, Runnable look, LongSupplier nanoTime) {
        super(collector);
        this.grow = grow;
        this.look = look;
        this.nanoTime = nanoTime;
    }

    /// @param tscHz     approximate frequency of the time-stamp counter
    /// @param collector created when the session has its table of slow calls
    public static Collector of(NativeApi api, SlowThreshold threshold, double tscHz, Supplier<Collector> collector) {
        SlowCalls calls = new SlowCalls(api, threshold, tscHz / 1e9);
        return new SlowCallCollector(collector.get(), calls::grow, calls::look, System::nanoTime);
    }

    @Override
    public void open(List<Integer> functions, boolean whole) {
        grow.run();
        collector.open(functions, whole);
        dueNanos = 0;
    }

    @Override
    public double tick() {
        double now = nanoTime.getAsLong();
        if (now >= dueNanos || collector.urgentNanos() <= 0) {
            look.run();
            dueNanos = now + collector.tick();
        }
        double wait = collector.lookAtWaits();
        return Math.clamp(dueNanos - nanoTime.getAsLong(), 0, wait);
    }
}
