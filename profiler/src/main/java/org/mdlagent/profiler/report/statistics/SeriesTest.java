package org.mdlagent.profiler.report.statistics;

import java.util.stream.DoubleStream;
import org.mdlagent.profiler.estimate.Confidence;

/// How much a figure differs between two series of runs, by the logarithms of its values in the faster half of each:
/// differences are then factors, and runs that other programs have disturbed, which are slower only, count for nothing.
/// The error is that of means of which one end is trimmed (Yuen, "The Two-Sample Trimmed t for Unequal Population
/// Variances", 1974).
///
/// @param before geometric mean of the values before, above 0
/// @param after  the same after
/// @param error  standard error of the logarithm of `after / before`
/// @param runs   of each series
public record SeriesTest(double before, double after, double error, int runs) {
    /// Values closer than this are equal: a histogram's slots do not tell them apart.
    private static final double RESOLUTION = 0.002;

    /// Of few runs fewer are left out: a variance takes some.
    private static final int KEPT_MIN = 4;

    /// @param before values above 0
    /// @param after  as many
    static SeriesTest of(double[] before, double[] after) {
        Half first = Half.of(DoubleStream.of(before).map(Math::log).sorted().toArray());
        Half second = Half.of(DoubleStream.of(after).map(Math::log).sorted().toArray());
        return new SeriesTest(Math.exp(first.mean), Math.exp(second.mean), error(first, second), before.length);
    }

    /// By how many standard errors logarithms of a second series are larger than those of a first; both ascend.
    static double deviations(double[] first, double[] second) {
        Half one = Half.of(first);
        Half other = Half.of(second);
        return (other.mean - one.mean) / error(one, other);
    }

    private static double error(Half first, Half second) {
        double least = RESOLUTION * RESOLUTION / 6 / first.runs;
        return Math.sqrt(first.variance + second.variance + least);
    }

    /// The smaller half of some values, which ascend.
    ///
    /// @param variance of the mean, by the values of which the larger half is replaced by the largest that is left
    private record Half(int runs, double mean, double variance) {
        static Half of(double[] values) {
            int runs = values.length;
            int kept = kept(runs);
            double sum = 0;
            for (int i = 0; i < kept; i++) {
                sum += values[i];
            }
            double replaced = values[kept - 1];
            double centre = (sum + (runs - kept) * replaced) / runs;
            double squares = (runs - kept) * (replaced - centre) * (replaced - centre);
            for (int i = 0; i < kept; i++) {
                squares += (values[i] - centre) * (values[i] - centre);
            }
            return new Half(runs, sum / kept, squares / (kept * (kept - 1)));
        }
    }

    private static int kept(int runs) {
        return Math.max(KEPT_MIN, (runs + 1) / 2);
    }

    private double logRatio() {
        return Math.log(after / before);
    }

    private double halfWidth() {
        return error * Confidence.quantile95(2.0 * kept(runs) - 2);
    }

    /// The change in percent of what it was before.
    public double changePercent() {
        return 100 * (after / before - 1);
    }

    /// The lower end of the change's 95 % interval, in percent.
    public double lowPercent() {
        return 100 * Math.expm1(logRatio() - halfWidth());
    }

    /// The upper end of the change's 95 % interval, in percent.
    public double highPercent() {
        return 100 * Math.expm1(logRatio() + halfWidth());
    }
}
