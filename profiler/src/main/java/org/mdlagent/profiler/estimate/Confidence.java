package org.mdlagent.profiler.estimate;

import java.util.OptionalDouble;

/// How many standard deviations half a confidence interval of 95 % is wide.
public final class Confidence {
    /// Where the standard deviation is known.
    public static final double QUANTILE_95 = 1.96;

    /// What none of n observations has met has a part of at most 3 / n, in 95 of 100 cases: the rule of three (Hanley,
    /// Lippman-Hand, "If Nothing Goes Wrong, Is Everything All Right?", JAMA 249, 1983).
    public static final double UNMET_OBSERVATIONS = 3;

    /// What probes take of a program while they count is predicted: estimates of sqlite3's and Lua's calls were off by
    /// up to this part, all together.
    private static final double PREDICTION = 0.05;

    private Confidence() {}

    /// Where it was estimated: the quantile of Student's distribution, by the expansion of Cornish and Fisher
    /// (Abramowitz and Stegun, 26.7.5), 11 % too small for one degree of freedom, and less than 1 % for more.
    ///
    /// @param freedom degrees of freedom, above 0, infinite where it is known
    public static double quantile95(double freedom) {
        double inverse = 1 / freedom;
        return QUANTILE_95 + inverse * (2.37 + inverse * (2.82 + inverse * (2.56 + inverse * 1.59)));
    }

    /// Half the interval of an estimated number of calls, relative to it; empty where the number is exact or 0.
    ///
    /// An estimate that is too low has a variance that is too low, too: both come from slices that have missed
    /// calls. So the interval reaches as far as that of a count of Poisson's distribution that varies as much, by
    /// the approximation of Wilson and Hilferty (Johnson, Kemp, Kotz, "Univariate Discrete Distributions", ch. 4).
    public static OptionalDouble relativeError(double variance, long count) {
        if (variance <= 0 || count <= 0) {
            return OptionalDouble.empty();
        }
        double events = (double) count * count / variance;
        double next = events + 1;
        double upper = next * Math.pow(1 - 1 / (9 * next) + QUANTILE_95 / (3 * Math.sqrt(next)), 3);
        return OptionalDouble.of(upper / events - 1 + PREDICTION);
    }

    /// Half the interval of what is estimated by how many samples have met it, above 0 of them, relative to it: their
    /// number has Poisson's distribution.
    public static double ofSamples(double count) {
        return QUANTILE_95 / Math.sqrt(count);
    }

    /// Half the interval of a part that was estimated, relative to it; empty where fewer than two observations tell.
    ///
    /// @param part         that observations were found to have, above 0
    /// @param observations how many there were, of which none has to do with another
    public static OptionalDouble ofPart(double part, double observations) {
        if (observations < 2) {
            return OptionalDouble.empty();
        }
        double freedom = observations - 1;
        double byChance = quantile95(freedom) * Math.sqrt((1 - part) / part / freedom);
        return OptionalDouble.of(Math.max(byChance, UNMET_OBSERVATIONS / observations));
    }

    /// What of [#relativeError] is due to chance: what it is not is the same in another run.
    public static double ofChance(double relativeError) {
        return Math.max(0, relativeError - PREDICTION);
    }
}
