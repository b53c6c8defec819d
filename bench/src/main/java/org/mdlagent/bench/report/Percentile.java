package org.mdlagent.bench.report;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/// Percentiles of measured values.
public final class Percentile {
    private Percentile() {}

    /// NaN if there are none.
    public static double median(double[] values) {
        if (values.length == 0) {
            return Double.NaN;
        }
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }

    /// @param percent 0 for the least, 100 for the greatest
    public static double of(double[] values, double percent) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[Math.min(sorted.length - 1, (int) (sorted.length * percent / 100))];
    }

    public static double of(List<Double> values, double percent) {
        return of(values.stream().mapToDouble(Double::doubleValue).toArray(), percent);
    }

    /// The median, followed by minimum and maximum in brackets.
    public static String spread(String medianFormat, String boundsFormat, double[] values) {
        return String.format(
                Locale.ROOT,
                medianFormat + " (" + boundsFormat + ".." + boundsFormat + ")",
                median(values),
                of(values, 0),
                of(values, 100));
    }
}
