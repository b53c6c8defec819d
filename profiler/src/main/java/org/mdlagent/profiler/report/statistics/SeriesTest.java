package org.mdlagent.profiler.report.statistics;

import java.util.stream.DoubleStream;
import org.mdlagent.profiler.figures.Confidence;

/// The difference of a figure between two series of runs, from the logarithms of its values in the faster
/// half of each series. So differences are factors, and runs disturbed by other programs, which are only ever
/// slower, do not count. The error is that of one-sided trimmed means (Yuen, "The Two-Sample Trimmed t for
/// Unequal Population Variances", 1974).
///
/// @param before geometric mean of the values before, above 0
/// @param after  geometric mean of the values after, above 0
/// @param error  standard error of the logarithm of `after / before`
/// @param runs   of each series
public record SeriesTest(double before, double after, double error, int runs) {
    /// Values closer than this are equal: within the resolution of a histogram's slots.
    private static final double RESOLUTION = 0.002;

    /// Minimum runs kept: a variance needs some.
    private static final int KEPT_MIN = 4;

    /// @param before values above 0
    /// @param after  values above 0, as many
    static SeriesTest of(double[] before, double[] after) {
        Half first = Half.of(DoubleStream.of(before).map(Math::log).sorted().toArray());
        Half second = Half.of(DoubleStream.of(after).map(Math::log).sorted().toArray());
        return new SeriesTest(Math.exp(first.mean), Math.exp(second.mean), error(first, second), before.length);
    }

    /// By how many standard errors the second series of logarithms exceeds the first; both ascend.
    static double deviations(double[] first, double[] second) {
        Half one = Half.of(first);
        Half other = Half.of(second);
        return (other.mean - one.mean) / error(one, other);
    }

    private static double error(Half first, Half second) {
        double least = RESOLUTION * RESOLUTION / 6 / first.runs;
        return Math.sqrt(first.variance + second.variance + least);
    }

    /// The smaller half of ascending values.
    ///
    /// @param variance of the mean, from the winsorized values: the larger half is replaced by the largest
    ///     value kept
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

    /// The change in percent of the value before.
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
