package org.mdlagent.profiler.sampled;

/// How much CPU time the program takes while time passes.
final class Pace {
    /// The budget is a part of the program's CPU time, but of this part of the time that has passed at least: an
    /// idle program is looked at, too. It is smoothed over so long, for programs run by fits and starts.
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

    /// CPU time of the program for each nanosecond that has passed, of late; 1 at least, for it is that while it
    /// runs.
    double running() {
        return pace;
    }

    /// CPU time for each nanosecond that has passed, of which the budget is a part.
    double used() {
        return Math.max(SHARE_MIN, used);
    }

    /// The budget's part of the program's CPU time is this many times what was asked for.
    double generosity() {
        return used() / Math.max(USED_LEAST, used);
    }
}
