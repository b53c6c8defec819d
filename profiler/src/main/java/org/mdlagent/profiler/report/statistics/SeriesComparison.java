package org.mdlagent.profiler.report.statistics;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Run;
import org.mdlagent.profiler.report.profile.RunProfile;

/// Compares two builds, each run several times, interleaved: finds what differs by more than runs of one
/// build do.
///
/// The test covers the program's time, and a typical call of each function that takes at least 0.5 % of it
/// and was timed in every run. The probability of any false "slower" is at most 1 % per comparison
/// ([RunPermutations]). Only the faster half of each build's runs decides ([SeriesTest]).
///
/// @param before           the runs of the first build
/// @param after            the runs of the second, as many
/// @param thresholdPercent changes up to this are ignored: a different code layout can cause them
/// @param program          the time in which the program's probes were in place
/// @param changes          the tested functions, largest change of a typical call first
/// @param untested         number of functions with too little time, or not timed in every run
/// @param critical         standard errors by which a figure must exceed the threshold to be slower
public record SeriesComparison(
        List<Run> before,
        List<Run> after,
        double thresholdPercent,
        SeriesChange.Figure program,
        List<SeriesChange> changes,
        int untested,
        double critical) {
    /// The minimum runs per side that can show a difference.
    public static final int RUNS_MIN = RunPermutations.RUNS_MIN;

    /// The maximum runs per side.
    public static final int RUNS_MAX = RunPermutations.RUNS_MAX;

    /// The probability of a false "slower" in a comparison of equal builds.
    public static final double LEVEL = 0.01;

    /// Minimum share of the program's time for a function to be tested.
    private static final double COST_MIN = 0.005;

    /// The 90 % quantile of the normal distribution.
    private static final double NINE_OF_TEN = 1.28;

    private static final Comparator<SeriesChange> LARGEST_FIRST = Comparator.comparing(SeriesChange::isSlower)
            .thenComparing(SeriesChange::isFaster)
            .thenComparingDouble(
                    (SeriesChange change) -> Math.abs(change.typical().test().changePercent()))
            .reversed()
            .thenComparing(change -> change.function().name());

    public SeriesComparison {
        before = List.copyOf(before);
        after = List.copyOf(after);
        changes = List.copyOf(changes);
    }

    /// @param before profiles of the first build's runs, from [#RUNS_MIN] to [#RUNS_MAX], each with a measured time
    /// @param after  as many of the second build
    public static SeriesComparison of(List<RunProfile> before, List<RunProfile> after, double thresholdPercent) {
        Set<String> ambiguous = FunctionIdentity.ambiguous(
                Stream.concat(before.stream(), after.stream()).toList());
        List<Map<FunctionIdentity, FunctionProfile>> first = byIdentity(before, ambiguous);
        List<Map<FunctionIdentity, FunctionProfile>> second = byIdentity(after, ambiguous);
        double leastNanos = COST_MIN * (nanos(before) + nanos(after)) / 2;
        List<Pair> pairs = new ArrayList<>();
        Set<FunctionIdentity> all = new HashSet<>();
        Stream.concat(first.stream(), second.stream()).forEach(run -> all.addAll(run.keySet()));
        for (FunctionIdentity identity : all) {
            Pair pair = new Pair(in(first, identity), in(second, identity));
            if (pair.isTimedIn(before.size(), after.size()) && pair.costNanos() >= leastNanos) {
                pairs.add(pair);
            }
        }
        return of(before, after, thresholdPercent, pairs, all.size() - pairs.size());
    }

    private static SeriesComparison of(
            List<RunProfile> before, List<RunProfile> after, double thresholdPercent, List<Pair> pairs, int untested) {
        double margin = thresholdPercent / 100;
        Figures figures = new Figures();
        figures.add(times(before), times(after), margin);
        for (Pair pair : pairs) {
            figures.add(pair.before(Pair::typical), pair.after(Pair::typical), margin);
        }
        RunPermutations permutations = new RunPermutations(before.size());
        RunPermutations.Result slower = permutations.grown(figures.before, figures.after(-1));
        RunPermutations.Result faster = permutations.grown(figures.after(1), figures.before);
        List<SeriesChange.Figure> tested = new ArrayList<>();
        for (int i = 0; i < figures.tests.size(); i++) {
            tested.add(new SeriesChange.Figure(figures.tests.get(i), slower.levels()[i], faster.levels()[i]));
        }
        List<SeriesChange> changes = new ArrayList<>();
        for (int i = 0; i < pairs.size(); i++) {
            Pair pair = pairs.get(i);
            changes.add(
                    new SeriesChange(pair.after.getLast(), calls(pair.before), calls(pair.after), tested.get(1 + i)));
        }
        changes.sort(LARGEST_FIRST);
        return new SeriesComparison(
                runs(before), runs(after), thresholdPercent, tested.getFirst(), changes, untested, slower.critical());
    }

    /// Whether anything is significantly slower, by more than the threshold.
    public boolean isSlower() {
        return program.isSlower() || changes.stream().anyMatch(SeriesChange::isSlower);
    }

    /// The growth of the program's time, in percent, that such runs detect in nine of ten comparisons.
    public double visibleInProgramPercent() {
        return visiblePercent(program.test());
    }

    /// The same for a typical call, for the median function. Empty if none was tested.
    public OptionalDouble visibleInFunctionsPercent() {
        double[] visible = changes.stream()
                .mapToDouble(change -> visiblePercent(change.typical().test()))
                .sorted()
                .toArray();
        return visible.length == 0 ? OptionalDouble.empty() : OptionalDouble.of(visible[visible.length / 2]);
    }

    private double visiblePercent(SeriesTest test) {
        return 100 * Math.expm1(Math.log1p(thresholdPercent / 100) + test.error() * (critical + NINE_OF_TEN));
    }

    /// The tested values, by figure and run.
    private static final class Figures {
        final List<SeriesTest> tests = new ArrayList<>();
        final List<double[]> before = new ArrayList<>();
        private final List<double[]> after = new ArrayList<>();
        private final List<Double> forgiven = new ArrayList<>();

        /// @param margin tolerated relative growth, in addition to the variation of a probe's cost
        void add(double[] valuesBefore, double[] valuesAfter, double margin) {
            SeriesTest test = SeriesTest.of(valuesBefore, valuesAfter);
            tests.add(test);
            before.add(DoubleStream.of(valuesBefore).map(Math::log).toArray());
            after.add(DoubleStream.of(valuesAfter).map(Math::log).toArray());
            forgiven.add(Math.log1p(margin + TotalErrors.PROBE_NANOS / test.before()));
        }

        /// @param sign -1 to subtract the tolerated growth, 1 to add it
        List<double[]> after(int sign) {
            List<double[]> moved = new ArrayList<>();
            for (int i = 0; i < after.size(); i++) {
                double by = sign * forgiven.get(i);
                moved.add(DoubleStream.of(after.get(i)).map(value -> value + by).toArray());
            }
            return moved;
        }
    }

    /// A function's profiles, by run.
    private record Pair(List<FunctionProfile> before, List<FunctionProfile> after) {
        boolean isTimedIn(int runsBefore, int runsAfter) {
            return before.size() == runsBefore
                    && after.size() == runsAfter
                    && Stream.concat(before.stream(), after.stream()).allMatch(function -> typical(function) > 0);
        }

        /// The mean time of its calls per run, without waits.
        double costNanos() {
            return Stream.concat(before.stream(), after.stream())
                    .mapToDouble(function -> function.calls() * typical(function))
                    .average()
                    .orElse(0);
        }

        static double typical(FunctionProfile function) {
            return function.latency().middleMeanNanos();
        }

        double[] before(ToDoubleFunction<FunctionProfile> figure) {
            return values(before, figure);
        }

        double[] after(ToDoubleFunction<FunctionProfile> figure) {
            return values(after, figure);
        }

        private static double[] values(List<FunctionProfile> functions, ToDoubleFunction<FunctionProfile> figure) {
            return functions.stream().mapToDouble(figure).toArray();
        }
    }

    private static List<Map<FunctionIdentity, FunctionProfile>> byIdentity(
            List<RunProfile> runs, Set<String> ambiguous) {
        return runs.stream().map(run -> FunctionIdentity.of(run, ambiguous)).toList();
    }

    private static List<FunctionProfile> in(
            List<Map<FunctionIdentity, FunctionProfile>> runs, FunctionIdentity identity) {
        return runs.stream()
                .filter(run -> run.containsKey(identity))
                .map(run -> run.get(identity))
                .toList();
    }

    private static double calls(List<FunctionProfile> functions) {
        return functions.stream().mapToLong(FunctionProfile::calls).average().orElse(0);
    }

    private static double[] times(List<RunProfile> runs) {
        return runs.stream()
                .mapToDouble(run -> run.run().measuredNanos().orElseThrow())
                .toArray();
    }

    private static double nanos(List<RunProfile> runs) {
        double[] times = times(runs);
        double sum = 0;
        for (double time : times) {
            sum += time;
        }
        return sum / times.length;
    }

    private static List<Run> runs(List<RunProfile> profiles) {
        return profiles.stream().map(RunProfile::run).toList();
    }
}
