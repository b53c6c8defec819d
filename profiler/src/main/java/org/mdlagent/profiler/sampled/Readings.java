package org.mdlagent.profiler.sampled;

import java.util.Arrays;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.profiler.EnteredCalls;
import org.mdlagent.profiler.tier.Tiers;

/// What the program had done when it was last looked at: its CPU time, and the calls of each function.
final class Readings {
    /// Reading is to take no more than this part of a window.
    private static final double WINDOW_PART = 0.01;

    private static final int READINGS_MAX = 3;

    /// One that took no more than so many times the shortest of late is as good as another would be, however long it
    /// took: of tens of thousands of functions, each does. The shortest is forgotten by this part at each reading.
    private static final double SLOW = 2;

    private static final double FORGOTTEN = 0.02;

    private final NativeApi api;
    private final EnteredCalls counters;
    private final Tiers tiers;
    private final double ticksPerNano;
    private final double windowTicks;
    private long[] calls = {};
    private long cpu;
    private long tsc;
    private double lost;
    private double shortestTicks = Double.MAX_VALUE;

    /// @param windowNanos how long a window's calls are counted
    Readings(NativeApi api, Tiers tiers, double windowNanos, double ticksPerNano) {
        this.api = api;
        this.tiers = tiers;
        this.ticksPerNano = ticksPerNano;
        windowTicks = windowNanos * ticksPerNano;
        counters = new EnteredCalls(api.session());
    }

    /// Makes room for functions that have come.
    void grow(int functions) {
        calls = Arrays.copyOf(calls, functions);
    }

    /// Looks at the program.
    void read() {
        long before = api.programCpuNanos();
        calls = counters.read(calls.length);
        cpu = before + (api.programCpuNanos() - before) / 2;
        tsc = api.tsc();
        tiers.count(calls);
    }

    /// Looks at a window's begin or end: once more when it took long. Code that has slept is in no cache, so calls
    /// were read later after the clock at ends than at begins, and windows seemed to have seen more than they did.
    void readAtOnce() {
        int readings = 0;
        double took;
        do {
            long start = api.tsc();
            read();
            took = api.tsc() - start;
            shortestTicks = Math.min(took, shortestTicks * (1 + FORGOTTEN));
        } while (took > WINDOW_PART * windowTicks && took > SLOW * shortestTicks && ++readings < READINGS_MAX);
    }

    int functions() {
        return calls.length;
    }

    /// By function; valid until the next look.
    long[] calls() {
        return calls;
    }

    long calls(int function) {
        return calls[function];
    }

    /// CPU time of the program, in nanoseconds.
    long cpu() {
        return cpu;
    }

    /// When that was, by the time-stamp counter.
    long tsc() {
        return tsc;
    }

    /// CPU time that the program would have taken so far without windows, in nanoseconds.
    double progress() {
        return cpu - lost;
    }

    /// The same at this moment.
    double progressNow() {
        return api.programCpuNanos() - lost;
    }

    /// The time-stamp counter at this moment.
    long tscNow() {
        return api.tsc();
    }

    /// CPU time that windows have cost the program so far, in nanoseconds, as predicted.
    double lost() {
        return lost;
    }

    /// Windows have cost the program so many nanoseconds more.
    void lose(double nanos) {
        lost += nanos;
    }

    /// Whether it is time for what was done at a moment, and is to be done so often at most.
    ///
    /// @param nanosOfEach the same for each function that there is
    boolean isDue(long lastTsc, double nanos, double nanosOfEach) {
        return api.tsc() - lastTsc >= Math.max(nanos, nanosOfEach * calls.length) * ticksPerNano;
    }
}
