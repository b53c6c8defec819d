package org.mdlagent.bench;

import java.util.Arrays;

/// Of measured values.
final class Percentile {
    private Percentile() {}

    /// NaN when there are none.
    static double median(double[] values) {
        if (values.length == 0) {
            return Double.NaN;
        }
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }

    /// @param percent 0 for the least, 100 for the greatest
    static double of(double[] values, double percent) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[Math.min(sorted.length - 1, (int) (sorted.length * percent / 100))];
    }
}
