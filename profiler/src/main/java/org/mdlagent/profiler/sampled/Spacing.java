package org.mdlagent.profiler.sampled;

/// How far apart something is that the agent does again and again: further than it could be, up to a limit, where it
/// would use up more than its part of the budget.
final class Spacing {
    private static final double PART = 0.2;

    /// What it takes is smoothed: this part is the newest one's, and one counts for at most so many times what was
    /// expected of it, for the processor may have been another's.
    private static final double WEIGHT = 0.25;

    private static final double SURPRISE = 2;

    /// To wake the agent takes the kernel so long besides.
    private static final double WAKING_NANOS = 60e3;

    private final double budget;
    private final double nanosMin;
    private final double nanosMax;
    private double cost = WAKING_NANOS;

    /// @param budget the part of the program's time that measuring may cost, above 0 and up to 1, which sets no limit
    Spacing(double budget, double nanosMin, double nanosMax) {
        this.budget = budget;
        this.nanosMin = nanosMin;
        this.nanosMax = nanosMax;
    }

    /// It has taken so long.
    void end(double nanos) {
        cost += WEIGHT * (Math.min(nanos + WAKING_NANOS, SURPRISE * cost) - cost);
    }

    /// @param share CPU time of the program for each nanosecond that passes
    double nanosBetween(double share) {
        return budget < 1 ? Math.clamp(cost / (PART * budget * share), nanosMin, nanosMax) : nanosMin;
    }
}
