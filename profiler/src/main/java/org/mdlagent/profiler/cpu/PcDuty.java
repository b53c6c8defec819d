package org.mdlagent.profiler.cpu;

/// The duty cycle of sampling. A per-thread CPU clock is started and stopped at each context switch, so it
/// costs most in threads that wait often, as most servers' threads do. Such threads are sampled in one second
/// out of N, and each sample counts N times. Threads that rarely wait are sampled all the time.
final class PcDuty {
    /// Upper limit of N.
    static final int WEIGHT_MAX = 50;

    /// Cost of the clock per context switch: 0.5 us between two processes and a pipe, 2 us in postgres.
    private static final double SWITCH_NANOS = 1_000;

    /// Share of the CPU time that clocks may cost.
    private static final double PART = 0.002;

    private double cpuNanos;
    private double switches;

    /// Halves the weight of past observations.
    void age() {
        cpuNanos /= 2;
        switches /= 2;
    }

    /// Adds the CPU time that threads have had and how often a processor switched to them.
    void add(double cpuNanos, double switches) {
        this.cpuNanos += cpuNanos;
        this.switches += switches;
    }

    /// N: threads are sampled in one of N seconds.
    int weight() {
        if (cpuNanos <= 0) {
            return 1;
        }
        return Math.clamp((long) Math.ceil(SWITCH_NANOS * switches / cpuNanos / PART), 1, WEIGHT_MAX);
    }
}
