package org.mdlagent.profiler.sampled;

/// How many calls of functions whose calls are all counted are to tell their callers. That is dear, so there are as
/// many as a part of the budget pays for, in turn for all functions.
final class Telling {
    /// The part of the budget for it, and what a call costs that tells, in ticks.
    private static final double PART = 0.05;

    private static final double TICKS = 1000;

    /// So many at most, so that rings have room.
    private static final double MOST = 2048;

    private final double budget;
    private final double ticksPerNano;
    private final int mostOfEach;
    private long lastTsc;
    private int functions = 1;

    Telling(double budget, double ticksPerNano, int mostOfEach) {
        this.budget = budget;
        this.ticksPerNano = ticksPerNano;
        this.mostOfEach = mostOfEach;
    }

    /// How many there are to tell of.
    void setFunctions(int called) {
        functions = Math.max(1, called);
    }

    /// How many calls of each function are to tell from now on, in the mean; 0: those that are to, still are.
    ///
    /// @param share CPU time of the program for each nanosecond that has passed
    double ofEach(long now, double share) {
        double passed = now - lastTsc;
        if (passed < SampledProfiler.CLOSE_LOOK_NANOS * ticksPerNano) {
            return 0;
        }
        lastTsc = now;
        double all = Math.min(PART * budget * share * passed / TICKS, MOST);
        return Math.min(all / functions, mostOfEach);
    }
}
