package org.mdlagent.bench;

import static java.lang.String.format;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.mdlagent.profiler.report.FunctionProfile;
import org.mdlagent.profiler.report.Profile;

/// Sampled profiles of a program beside an exact one, for the functions that took most of its time.
///
/// The exact profile is slower where it counts: its total times and its percentiles have in them what its probes cost
/// within a call. So its counts are the truth, its times an upper bound.
final class Accuracy {
    private static final int HOTTEST = 20;
    private static final double GOAL_PERCENT = 5;

    /// One that is called a few times is seen or not, and has no percentiles.
    private static final long CALLS_MIN = 1000;

    private final List<FunctionProfile> hottest;
    private final List<Map<String, FunctionProfile>> sampled;

    Accuracy(Profile exact, List<Profile> sampled) {
        hottest = exact.functions().stream()
                .filter(function -> function.calls() >= CALLS_MIN)
                .sorted(Comparator.comparingLong((FunctionProfile function) ->
                                function.selfNanos().orElse(0))
                        .reversed())
                .limit(HOTTEST)
                .toList();
        this.sampled = sampled.stream().map(Accuracy::bySymbol).toList();
    }

    private static Map<String, FunctionProfile> bySymbol(Profile profile) {
        return profile.functions().stream()
                .collect(Collectors.toMap(FunctionProfile::symbol, Function.identity(), (one, other) -> one));
    }

    /// A line for a table, of errors relative to the exact profile; the goal is 5 %.
    String row() {
        return format(
                Locale.ROOT,
                "%-28s %-28s %-28s %-28s %-28s %s",
                errors(function -> OptionalLong.of(function.calls())),
                errors(FunctionProfile::totalNanos),
                errors(function -> function.latency().percentileNanos(50)),
                errors(function -> function.latency().percentileNanos(90)),
                errors(function -> function.latency().percentileNanos(99)),
                covered());
    }

    static String header() {
        return format(
                Locale.ROOT,
                "%-28s %-28s %-28s %-28s %-28s %s",
                "CALLS median, worst (bias)",
                "TOTAL",
                "P50",
                "P90",
                "P99",
                "CALLS WITHIN THEIR 95 % BOUNDS");
    }

    private String errors(Function<FunctionProfile, OptionalLong> value) {
        List<Double> errors = new ArrayList<>();
        for (FunctionProfile exact : hottest) {
            OptionalLong truth = value.apply(exact);
            if (truth.isEmpty() || truth.getAsLong() == 0) {
                continue;
            }
            for (Map<String, FunctionProfile> profile : sampled) {
                FunctionProfile estimate = profile.get(exact.symbol());
                OptionalLong estimated = estimate == null ? OptionalLong.empty() : value.apply(estimate);
                errors.add(100.0 * (estimated.orElse(0) - truth.getAsLong()) / truth.getAsLong());
            }
        }
        if (errors.isEmpty()) {
            return "-";
        }
        double bias = errors.stream().mapToDouble(Double::doubleValue).average().orElse(0);
        double[] sizes = errors.stream().mapToDouble(Math::abs).sorted().toArray();
        double median = sizes[sizes.length / 2];
        return format(
                Locale.ROOT,
                "%.1f %%, %.0f %% (%+.1f %%) %s",
                median,
                sizes[sizes.length - 1],
                bias,
                median <= GOAL_PERCENT ? "met" : "missed");
    }

    private String covered() {
        int within = 0;
        int all = 0;
        for (FunctionProfile exact : hottest) {
            for (Map<String, FunctionProfile> profile : sampled) {
                FunctionProfile estimate = profile.get(exact.symbol());
                double bound = estimate == null ? 0 : estimate.callsError().orElse(0) * estimate.calls();
                all++;
                within += estimate != null && Math.abs(estimate.calls() - exact.calls()) <= bound ? 1 : 0;
            }
        }
        return format(Locale.ROOT, "%d of %d", within, all);
    }
}
