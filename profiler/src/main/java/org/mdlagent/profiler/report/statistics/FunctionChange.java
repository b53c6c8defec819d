package org.mdlagent.profiler.report.statistics;

import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.profile.FunctionProfile;

/// What two runs say of one function.
///
/// @param before      null when it was not called before
/// @param after       null when it is not called any more; one of the two is there
/// @param slower      how probable it is that a call after takes longer than one before; NaN when that is not known
/// @param moreNanos   how much more time it takes, in the time that the run before was measured; less when negative
/// @param latencyRate the rate of false discoveries at which its latency has changed; NaN when that is not known
/// @param totalRate   the same of its part of the time
/// @param latencyRegression whether its calls are slower by more than the threshold, beyond chance
/// @param totalRegression   whether it takes more of the time by more than the threshold, beyond chance
public record FunctionChange(
        @Nullable FunctionProfile before,
        @Nullable FunctionProfile after,
        double slower,
        long moreNanos,
        double latencyRate,
        double totalRate,
        boolean latencyRegression,
        boolean totalRegression) {
    /// Differences that are called significant are none in one of twenty cases at most.
    public static final double SIGNIFICANT = 0.05;

    /// As the run after names it, where it does.
    public FunctionProfile function() {
        FunctionProfile any = after != null ? after : before;
        if (any == null) {
            throw new IllegalStateException("a change of no function");
        }
        return any;
    }

    public boolean regression() {
        return latencyRegression || totalRegression;
    }

    /// Whether anything has changed beyond chance.
    boolean significant() {
        return latencyRate <= SIGNIFICANT || totalRate <= SIGNIFICANT;
    }
}
