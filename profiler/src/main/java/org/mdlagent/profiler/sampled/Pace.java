package org.mdlagent.profiler.sampled;

/// The program's CPU time relative to elapsed time.
final class Pace {
    /// The budget is a share of the program's CPU time, but at least of this share of the elapsed time: an
    /// idle program is looked at as well. CPU time is smoothed over this time constant, for programs that run
    /// in bursts.
    private static final double SHARE_MIN = 0.1;

    private static final double USED_NANOS = 5e9;
    private static final double USED_LEAST = 1e-6;

    private double elapsedBefore;
    private double cpuBefore;
    private double pace = 1;
    private double used = 1;

    /// @param elapsed nanoseconds, by any clock
    /// @param cpu     of the program so far, in nanoseconds
    void look(double elapsed, double cpu) {
        double passed = elapsed - elapsedBefore;
        if (elapsedBefore > 0 && passed > 0) {
            double newest = (cpu - cpuBefore) / passed;
            pace = Math.max(1, newest);
            used += passed / (passed + USED_NANOS) * (newest - used);
        }
        elapsedBefore = elapsed;
        cpuBefore = cpu;
    }

    /// Recent CPU time of the program per nanosecond of elapsed time; at least 1, its value while the program
    /// runs.
    double running() {
        return pace;
    }

    /// CPU time per nanosecond of elapsed time, as the basis of the budget.
    double used() {
        return Math.max(SHARE_MIN, used);
    }

    /// Factor by which the effective budget, as a share of the program's CPU time, exceeds the requested one.
    double generosity() {
        return used() / Math.max(USED_LEAST, used);
    }
}
