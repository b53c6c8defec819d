package org.mdlagent.profiler.sampled;

/// How often an idle program is looked at: what costs nothing to watch is not to cost much to look at. A waking of the
/// agent takes 60 microseconds on a virtual machine, whatever it is for.
///
/// A program is idle when no function is called and it takes next to no CPU time. Should it go to work between two
/// looks, machine code bounds what that costs ([org.mdlagent.profiler.tier.Allowance]).
final class Idleness {
    private static final double IDLE_PART = 0.01;
    private static final double LOOK_NANOS_MAX = 500e6;

    private final double ticksPerNano;
    private double nanos = SampledProfiler.LOOK_NANOS;
    private long lastTsc;
    private long lastCpu;
    private long lastCalls;

    Idleness(double ticksPerNano) {
        this.ticksPerNano = ticksPerNano;
    }

    /// @param now   time-stamp counter
    /// @param cpu   CPU time of the program so far, in nanoseconds
    /// @param calls of all functions so far
    /// @return when it is to be looked at next, in nanoseconds from now; [SampledProfiler#LOOK_NANOS] when it
    ///         is not idle
    double lookNanos(long now, long cpu, long calls) {
        boolean idle = calls == lastCalls && cpu - lastCpu < IDLE_PART * (now - lastTsc) / ticksPerNano;
        nanos = idle ? Math.min(2 * nanos, LOOK_NANOS_MAX) : SampledProfiler.LOOK_NANOS;
        lastTsc = now;
        lastCpu = cpu;
        lastCalls = calls;
        return nanos;
    }
}
