package org.mdlagent.profiler.sampled;

import org.mdlagent.profiler.policy.LookInterval;

/// The back-off of looks at an idle program. Waking the agent takes 60 microseconds on a virtual machine,
/// whatever it is for.
///
/// A program is idle when no function is called and it takes next to no CPU time. If it becomes busy between
/// two looks, machine code limits the cost ([org.mdlagent.profiler.tier.Allowance]).
final class Idleness {
    private static final double IDLE_PART = 0.01;
    private static final double LOOK_NANOS_MAX = 500e6;

    private final double ticksPerNano;
    private double nanos = LookInterval.USUAL_NANOS;
    private long lastTsc;
    private long lastCpu;
    private long lastCalls;

    Idleness(double ticksPerNano) {
        this.ticksPerNano = ticksPerNano;
    }

    /// @param now   time-stamp counter
    /// @param cpu   CPU time of the program so far, in nanoseconds
    /// @param calls of all functions so far
    /// @return nanoseconds until the next look; [LookInterval#USUAL_NANOS] when the program is not idle
    double lookNanos(long now, long cpu, long calls) {
        boolean idle = calls == lastCalls && cpu - lastCpu < IDLE_PART * (now - lastTsc) / ticksPerNano;
        nanos = idle ? Math.min(2 * nanos, LOOK_NANOS_MAX) : LookInterval.USUAL_NANOS;
        lastTsc = now;
        lastCpu = cpu;
        lastCalls = calls;
        return nanos;
    }
}
