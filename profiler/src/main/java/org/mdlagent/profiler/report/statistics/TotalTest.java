package org.mdlagent.profiler.report.statistics;

import org.mdlagent.profiler.report.profile.FunctionProfile;

/// Whether a function takes more of the time: the difference of two estimates, in units of its standard error.
final class TotalTest {
    /// Below, the mean of durations, which have long tails, is not yet distributed normally.
    private static final double SAMPLES_MIN = 30;

    private TotalTest() {}

    /// Compares the total after with that before, each of its calls with a margin.
    ///
    /// @param samplesBefore independent ones
    /// @param samplesAfter  independent ones
    /// @param scale         how much longer the run before was measured than the one after, for one time to compare
    /// @return standard deviations; NaN where an estimate's error is not known
    static double z(
            FunctionProfile before,
            double samplesBefore,
            FunctionProfile after,
            double samplesAfter,
            Margin margin,
            double scale) {
        double varianceBefore = margin.factor() * margin.factor() * variance(before, samplesBefore);
        double variance = varianceBefore + scale * scale * variance(after, samplesAfter);
        if (!(variance > 0)) {
            return Double.NaN;
        }
        double total = margin.factor() * before.totalNanos().orElse(0) + margin.nanos() * before.calls();
        return (scale * after.totalNanos().orElse(0) - total) / Math.sqrt(variance);
    }

    private static double variance(FunctionProfile function, double samples) {
        return samples < SAMPLES_MIN ? Double.NaN : TotalErrors.variance(function, samples);
    }
}
