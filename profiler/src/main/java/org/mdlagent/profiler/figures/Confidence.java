package org.mdlagent.profiler.figures;

import java.util.OptionalDouble;

/// Half-widths of 95 % confidence intervals, in standard deviations.
public final class Confidence {
    /// For a known standard deviation.
    public static final double QUANTILE_95 = 1.96;

    /// An event that none of n observations has met has a probability of at most 3 / n, with 95 % confidence:
    /// the rule of three (Hanley, Lippman-Hand, "If Nothing Goes Wrong, Is Everything All Right?", JAMA 249,
    /// 1983).
    public static final double UNMET_OBSERVATIONS = 3;

    /// Systematic error of call estimates: probe cost while counting is predicted, not measured. Estimates of
    /// sqlite3's and Lua's calls were off by up to this share, all functions together.
    private static final double PREDICTION = 0.05;

    private Confidence() {}

    /// For an estimated standard deviation: the quantile of Student's distribution, by the Cornish-Fisher
    /// expansion (Abramowitz and Stegun, 26.7.5); 11 % too small for one degree of freedom, less than 1 % for
    /// more.
    ///
    /// @param freedom degrees of freedom, above 0; infinite for a known deviation
    public static double quantile95(double freedom) {
        double inverse = 1 / freedom;
        return QUANTILE_95 + inverse * (2.37 + inverse * (2.82 + inverse * (2.56 + inverse * 1.59)));
    }

    /// Relative half-width of the interval of an estimated number of calls; empty if the number is exact or
    /// 0.
    ///
    /// An estimate that is too low has a variance that is too low as well: both come from slices that missed
    /// calls. So the interval is that of a Poisson count with the same variance, by the Wilson-Hilferty
    /// approximation (Johnson, Kemp, Kotz, "Univariate Discrete Distributions", ch. 4).
    public static OptionalDouble relativeError(double variance, long count) {
        if (variance <= 0 || count <= 0) {
            return OptionalDouble.empty();
        }
        double events = (double) count * count / variance;
        double next = events + 1;
        double upper = next * Math.pow(1 - 1 / (9 * next) + QUANTILE_95 / (3 * Math.sqrt(next)), 3);
        return OptionalDouble.of(upper / events - 1 + PREDICTION);
    }

    /// Relative half-width for a figure estimated from `count` samples, above 0; the count is Poisson
    /// distributed.
    public static double ofSamples(double count) {
        return QUANTILE_95 / Math.sqrt(count);
    }

    /// Relative half-width for an estimated share; empty for fewer than two observations.
    ///
    /// @param part         the share found, above 0
    /// @param observations number of independent observations
    public static OptionalDouble ofPart(double part, double observations) {
        if (observations < 2) {
            return OptionalDouble.empty();
        }
        double freedom = observations - 1;
        double byChance = quantile95(freedom) * Math.sqrt((1 - part) / part / freedom);
        return OptionalDouble.of(Math.max(byChance, UNMET_OBSERVATIONS / observations));
    }

    /// The random component of [#relativeError]; the systematic rest is the same in every run.
    public static double ofChance(double relativeError) {
        return Math.max(0, relativeError - PREDICTION);
    }
}
