package org.mdlagent.profiler.report.statistics;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/// Corrects for many tests at once: of a thousand functions that have not changed, fifty would look as if they had, at
/// a level of 5 % for each (Benjamini and Hochberg, "Controlling the False Discovery Rate", 1995).
final class FalseDiscovery {
    private FalseDiscovery() {}

    /// For each test the smallest rate of false discoveries at which it is one: whoever believes those of 0.05 at most
    /// is wrong about one in twenty of them.
    ///
    /// @param probabilities of such a result by chance; NaN where nothing could be tested
    /// @return NaN for those
    static double[] rates(double[] probabilities) {
        int[] ascending = IntStream.range(0, probabilities.length)
                .filter(i -> !Double.isNaN(probabilities[i]))
                .boxed()
                .sorted(Comparator.comparingDouble(i -> probabilities[i]))
                .mapToInt(Integer::intValue)
                .toArray();
        double[] rates = new double[probabilities.length];
        Arrays.fill(rates, Double.NaN);
        double least = 1;
        for (int rank = ascending.length; rank > 0; rank--) {
            int test = ascending[rank - 1];
            least = Math.min(least, probabilities[test] * ascending.length / rank);
            rates[test] = least;
        }
        return rates;
    }
}
