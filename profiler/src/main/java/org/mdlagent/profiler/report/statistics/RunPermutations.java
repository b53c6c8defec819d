package org.mdlagent.profiler.report.statistics;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/// Which of many figures differ between two series of runs: the step of Westfall and Young ("Resampling-Based Multiple
/// Testing", 1993). Where two builds are equal, each division of all runs into two halves is as probable as the real
/// one. A figure differs at a level when the real division shows a larger difference of it than all but this part of
/// the divisions show of *any* figure. So all figures together are wrong with the probability of the level, whatever
/// the distribution of run times is; and figures that rise and fall together, as those of a machine do, cost no more
/// than one.
///
/// Runs of both series must have been taken in turn: what drifts on the machine is then a difference within each
/// series, and makes the test more careful.
final class RunPermutations {
    /// The least runs a side: of 252 divisions, the real one and its like are one in a hundred.
    static final int RUNS_MIN = 5;

    /// The most runs a side.
    static final int RUNS_MAX = 31;

    /// Up to this number of runs a side all divisions are looked at, 3,432 at most; above, so many by chance.
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

    /// What the real division shows of each figure, and all others of any.
    ///
    /// @param levels   by figure: the part of the divisions that show as much of any figure
    /// @param critical standard errors that a figure must have grown by at a level of [SeriesComparison#LEVEL]
    record Result(double[] levels, double critical) {}

    /// Tests whether figures have grown.
    ///
    /// @param before by figure and run: logarithms
    /// @param after  the same after, without the growth that is forgiven
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

    /// The real division is one of those by chance, too.
    private double level(double seen, double[] largest) {
        int asMuch = 0;
        for (int i = largest.length; i > 0 && largest[i - 1] >= seen - CLOSE; i--) {
            asMuch++;
        }
        int more = runs <= EXACT_RUNS_MAX ? 0 : 1;
        return (double) (asMuch + more) / (largest.length + more);
    }

    /// A figure of all runs of both series.
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

        /// By how many standard errors the runs of a half are larger than the others.
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

    /// The same ones each time, so that a comparison says the same twice.
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
