package org.mdlagent.profiler.cpu;

/// How often threads are sampled: all the time, where they rarely wait. A clock that counts a thread's CPU time is
/// begun and ended whenever a processor turns to the thread and leaves it. So those that wait often, as most servers'
/// do, are sampled in one second of so many, and each sample stands for as many.
final class PcDuty {
    /// How many seconds one may stand for.
    static final int WEIGHT_MAX = 50;

    /// What a clock costs at each switch: 0.5 us between two processes and a pipe, 2 us in postgres.
    private static final double SWITCH_NANOS = 1_000;

    /// What clocks may cost, of the CPU time.
    private static final double PART = 0.002;

    private double cpuNanos;
    private double switches;

    /// Half of what was known is forgotten before more is learned.
    void age() {
        cpuNanos /= 2;
        switches /= 2;
    }

    /// Threads have had so much CPU time, and processors have turned to them so often for it.
    void add(double cpuNanos, double switches) {
        this.cpuNanos += cpuNanos;
        this.switches += switches;
    }

    /// In one of how many seconds threads are to be sampled.
    int weight() {
        if (cpuNanos <= 0) {
            return 1;
        }
        return Math.clamp((long) Math.ceil(SWITCH_NANOS * switches / cpuNanos / PART), 1, WEIGHT_MAX);
    }
}
