package org.mdlagent.profiler.report.statistics;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/// Tests which of many figures differ between two series of runs, by the permutation method of Westfall and
/// Young ("Resampling-Based Multiple Testing", 1993). If two builds are equal, every division of all runs
/// into two halves is as probable as the real one. A figure differs at a level if at most that fraction of
/// the divisions show as large a difference of *any* figure. So the family-wise error rate equals the level,
/// whatever the distribution of run times; and correlated figures, as on one machine, cost no more than a
/// single one.
///
/// Runs of both series must be interleaved: drift of the machine is then a difference within each series and
/// makes the test more conservative.
final class RunPermutations {
    /// Minimum runs per side: with 5 there are 252 divisions, just enough for a level of 0.01.
    static final int RUNS_MIN = 5;

    /// Maximum runs per side.
    static final int RUNS_MAX = 31;

    /// Up to this number of runs per side, all divisions are tested, 3,432 at most; above it, a random
    /// selection.
    private static final int EXACT_RUNS_MAX = 7;

    private static final int DIVISIONS = 4_999;
    private static final double CLOSE = 1e-9;

    private final int runs;
    private final List<Long> divisions;

    /// @param runs of each series, from [#RUNS_MIN] to [#RUNS_MAX]
    RunPermutations(int runs) {
        this.runs = runs;
        divisions = runs <= EXACT_RUNS_MAX ? all(runs) : some(runs);
    }

    /// The outcome of a test.
    ///
    /// @param levels   by figure: the fraction of divisions with as large a difference of any figure
    /// @param critical growth, in standard errors, that is significant at [SeriesComparison#LEVEL]
    record Result(double[] levels, double critical) {}

    /// Tests whether figures have grown.
    ///
    /// @param before by figure and run: logarithms
    /// @param after  the logarithms after, minus the tolerated growth
    Result grown(List<double[]> before, List<double[]> after) {
        List<Ranked> figures = new ArrayList<>();
        for (int i = 0; i < before.size(); i++) {
            figures.add(Ranked.of(before.get(i), after.get(i)));
        }
        long real = (1L << runs) - 1 << runs;
        double[] seen =
                figures.stream().mapToDouble(figure -> figure.deviations(real)).toArray();
        double[] largest = divisions.stream()
                .mapToDouble(division -> figures.stream()
                        .mapToDouble(figure -> figure.deviations(division))
                        .max()
                        .orElse(0))
                .sorted()
                .toArray();
        double[] levels = new double[seen.length];
        for (int i = 0; i < seen.length; i++) {
            levels[i] = level(seen[i], largest);
        }
        int beyond = (int) (SeriesComparison.LEVEL * largest.length);
        return new Result(levels, largest[largest.length - Math.max(1, beyond)]);
    }

    /// The real division counts as one of the random ones.
    private double level(double seen, double[] largest) {
        int asMuch = 0;
        for (int i = largest.length; i > 0 && largest[i - 1] >= seen - CLOSE; i--) {
            asMuch++;
        }
        int more = runs <= EXACT_RUNS_MAX ? 0 : 1;
        return (double) (asMuch + more) / (largest.length + more);
    }

    /// The values of a figure in all runs of both series.
    ///
    /// @param values ascending
    /// @param run    of each value, those of the first series first
    private record Ranked(double[] values, int[] run) {
        static Ranked of(double[] before, double[] after) {
            double[] all = DoubleStream.concat(DoubleStream.of(before), DoubleStream.of(after))
                    .toArray();
            int[] run = IntStream.range(0, all.length)
                    .boxed()
                    .sorted(Comparator.comparingDouble(i -> all[i]))
                    .mapToInt(Integer::intValue)
                    .toArray();
            return new Ranked(IntStream.of(run).mapToDouble(i -> all[i]).toArray(), run);
        }

        /// By how many standard errors the runs of a half exceed the others.
        double deviations(long division) {
            int runs = values.length / 2;
            double[] first = new double[runs];
            double[] second = new double[runs];
            int ofFirst = 0;
            int ofSecond = 0;
            for (int i = 0; i < values.length; i++) {
                if ((division >> run[i] & 1) == 0) {
                    first[ofFirst++] = values[i];
                } else {
                    second[ofSecond++] = values[i];
                }
            }
            return SeriesTest.deviations(first, second);
        }
    }

    private static List<Long> all(int runs) {
        List<Long> divisions = new ArrayList<>();
        for (long division = 0; division < 1L << 2 * runs; division++) {
            if (Long.bitCount(division) == runs) {
                divisions.add(division);
            }
        }
        return divisions;
    }

    /// The same selection each time, so that a comparison is reproducible.
    private static List<Long> some(int runs) {
        SplittableRandom random = new SplittableRandom(runs);
        List<Long> divisions = new ArrayList<>();
        for (int i = 0; i < DIVISIONS; i++) {
            long division = 0;
            int left = runs;
            for (int run = 2 * runs; run > 0; run--) {
                boolean chosen = random.nextInt(run) < left;
                division = division << 1 | (chosen ? 1 : 0);
                left -= chosen ? 1 : 0;
            }
            divisions.add(division);
        }
        return divisions;
    }
}
