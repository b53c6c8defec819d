package org.mdlagent.profiler.sampled;

/// How often open functions are looked at while windows rest: rarer than they could be, up to a limit, where they
/// would use up more than a part of the budget.
final class Looks {
    private static final double PART = 0.2;
    private static final double NANOS_MAX = 1e9;

    /// What a look takes is smoothed: this part is the newest one's, and one counts for at most so many times what was
    /// expected of it, for the processor may have been another's.
    private static final double WEIGHT = 0.25;

    private static final double SURPRISE = 2;

    /// To wake the agent takes the kernel so long besides.
    private static final double WAKING_NANOS = 60e3;

    private final double budget;
    private double cost = WAKING_NANOS;

    /// @param budget the part of the program's time that measuring may cost, above 0 and up to 1
    Looks(double budget) {
        this.budget = budget;
    }

    /// A look has taken so long.
    void end(double nanos) {
        cost += WEIGHT * (Math.min(nanos + WAKING_NANOS, SURPRISE * cost) - cost);
    }

    /// @param share CPU time of the program for each nanosecond that passes
    double nanosBetween(double share) {
        return budget < 1
                ? Math.clamp(cost / (PART * budget * share), SampledProfiler.LOOK_NANOS, NANOS_MAX)
                : SampledProfiler.LOOK_NANOS;
    }
}
