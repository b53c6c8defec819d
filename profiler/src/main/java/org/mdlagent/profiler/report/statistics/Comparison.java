package org.mdlagent.profiler.report.statistics;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.file.BaseName;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Run;
import org.mdlagent.profiler.report.profile.RunProfile;

/// Two runs, function by function.
///
/// A function is the same in both when its symbol is, and it is the program's in both, or its library has one name;
/// where that is not enough, its file decides. Two questions are asked of each: whether its calls take longer
/// ([RankTest]), and whether it takes more of the time that was measured ([TotalTest]), for runs may differ in length;
/// each question's answers are corrected for
/// there being many functions ([FalseDiscovery]). With a threshold the questions are asked once more: whether that is
/// so by more than the threshold, and by what a probe's cost varies. Only a function of which that is so, and which
/// costs the program 0.5 % of its time, is a regression: two runs of one program differ by a few percent for reasons
/// of the machine, functions that are hardly ever called by more, and a million calls make that significant.
///
/// @param thresholdPercent of regressions; without, there are none
/// @param changes          those in which most time was gained or lost first
public record Comparison(Run before, Run after, OptionalDouble thresholdPercent, List<FunctionChange> changes) {
    /// The part of the time that was measured that a regression costs at least.
    private static final double COST_MIN = 0.005;

    public Comparison {
        changes = List.copyOf(changes);
    }

    /// Compares what two runs have measured.
    public static Comparison of(RunProfile before, RunProfile after, OptionalDouble thresholdPercent) {
        List<Pair> pairs = pairs(before, after);
        double scale = scale(before.run(), after.run());
        double[] latency = FalseDiscovery.rates(pairs.stream()
                .mapToDouble(pair -> Normal.beyond(pair.rank(Margin.NONE).z()))
                .toArray());
        double[] total = FalseDiscovery.rates(pairs.stream()
                .mapToDouble(pair -> Normal.beyond(pair.total(Margin.NONE, scale)))
                .toArray());
        Margin margin = Margin.ofPercent(thresholdPercent.orElse(0));
        double[] slower = FalseDiscovery.rates(pairs.stream()
                .mapToDouble(pair -> Normal.above(pair.rank(margin).z()))
                .toArray());
        double[] more = FalseDiscovery.rates(pairs.stream()
                .mapToDouble(pair -> Normal.above(pair.total(margin, scale)))
                .toArray());
        double leastCost = COST_MIN * before.run().measuredNanos().orElse(0);
        List<FunctionChange> changes = new ArrayList<>();
        for (int i = 0; i < pairs.size(); i++) {
            Pair pair = pairs.get(i);
            boolean matters = thresholdPercent.isPresent() && pair.costNanos(scale) >= leastCost;
            changes.add(new FunctionChange(
                    pair.before,
                    pair.after,
                    pair.rank(Margin.NONE).slower(),
                    pair.moreNanos(scale),
                    latency[i],
                    total[i],
                    matters && slower[i] <= FunctionChange.SIGNIFICANT,
                    matters && more[i] <= FunctionChange.SIGNIFICANT));
        }
        changes.sort(MOST_FIRST);
        return new Comparison(before.run(), after.run(), thresholdPercent, changes);
    }

    /// How much longer the first was measured than the second; 1 where that is not known.
    private static double scale(Run before, Run after) {
        long was = before.measuredNanos().orElse(0);
        long is = after.measuredNanos().orElse(0);
        return was > 0 && is > 0 ? (double) was / is : 1;
    }

    private static final Comparator<FunctionChange> MOST_FIRST = Comparator.comparing(FunctionChange::regression)
            .thenComparing(FunctionChange::significant)
            .thenComparingLong(change -> Math.abs(change.moreNanos()))
            .reversed()
            .thenComparing(change -> change.function().name());

    public List<FunctionChange> regressions() {
        return changes.stream().filter(FunctionChange::regression).toList();
    }

    /// A function in both runs, or in one.
    private record Pair(
            @Nullable FunctionProfile before,
            double samplesBefore,
            @Nullable FunctionProfile after,
            double samplesAfter) {
        RankTest rank(Margin margin) {
            return before == null || after == null
                    ? RankTest.UNKNOWN
                    : RankTest.of(before.latency(), samplesBefore, after.latency(), samplesAfter, margin);
        }

        /// Time that the program has lost by the change: by the sums, or by the medians, which few long calls do not
        /// sway.
        double costNanos(double scale) {
            if (before == null || after == null) {
                return 0;
            }
            long was = before.latency().percentileNanos(50).orElse(0);
            long is = after.latency().percentileNanos(50).orElse(0);
            return Math.max(moreNanos(scale), scale * after.calls() * (is - was));
        }

        /// How much more time it takes, in the time that the run before was measured; less when negative.
        long moreNanos(double scale) {
            return Math.round(scale * nanos(after)) - nanos(before);
        }

        private static long nanos(@Nullable FunctionProfile function) {
            return function == null ? 0 : function.totalNanos().orElse(0);
        }

        double total(Margin margin, double scale) {
            return before == null || after == null
                    ? Double.NaN
                    : TotalTest.z(before, samplesBefore, after, samplesAfter, margin, scale);
        }
    }

    private static List<Pair> pairs(RunProfile before, RunProfile after) {
        Set<String> ambiguous = new HashSet<>();
        ambiguous.addAll(ambiguous(before.functions()));
        ambiguous.addAll(ambiguous(after.functions()));
        Map<Identity, FunctionProfile> earlier = byIdentity(before, ambiguous);
        Map<Identity, FunctionProfile> later = byIdentity(after, ambiguous);
        List<Pair> pairs = new ArrayList<>();
        earlier.forEach((identity, function) -> {
            FunctionProfile now = later.get(identity);
            pairs.add(new Pair(function, samples(function, before), now, now == null ? 0 : samples(now, after)));
        });
        later.forEach((identity, function) -> {
            if (!earlier.containsKey(identity)) {
                pairs.add(new Pair(null, 0, function, samples(function, after)));
            }
        });
        return pairs;
    }

    /// Calls that were timed in succession are alike, so a window of them counts as one sample.
    private static double samples(FunctionProfile function, RunProfile run) {
        return function.callsExact()
                ? function.sampled()
                : (double) function.sampled() / run.run().sampleSize();
    }

    /// Which function it is.
    ///
    /// @param image  "" for the program, which may have another name after than before
    /// @param file   "" where the symbol alone tells it: it is not known of each build
    /// @param number of those that are otherwise the same, in their order
    private record Identity(String symbol, String image, String file, int number) {}

    private static Map<Identity, FunctionProfile> byIdentity(RunProfile profile, Set<String> ambiguous) {
        Map<Identity, FunctionProfile> byIdentity = new LinkedHashMap<>();
        Map<Identity, Integer> numbers = new HashMap<>();
        for (FunctionProfile function : profile.functions()) {
            boolean programs = function.image().equals(profile.run().program());
            String image = programs ? "" : BaseName.of(function.image());
            String file = ambiguous.contains(function.symbol()) && function.file() != null
                    ? BaseName.of(function.file())
                    : "";
            int number = numbers.merge(new Identity(function.symbol(), image, file, 0), 1, Integer::sum);
            byIdentity.put(new Identity(function.symbol(), image, file, number), function);
        }
        return byIdentity;
    }

    /// Symbols that several functions have, which are local to files then.
    private static Set<String> ambiguous(List<FunctionProfile> functions) {
        Set<String> seen = new HashSet<>();
        return functions.stream()
                .map(FunctionProfile::symbol)
                .filter(symbol -> !seen.add(symbol))
                .collect(Collectors.toSet());
    }
}
