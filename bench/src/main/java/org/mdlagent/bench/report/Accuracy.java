package org.mdlagent.bench.report;

import static java.lang.String.format;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.mdlagent.profiler.report.profile.FunctionProfile;

/// Sampled profiles of a program beside the truth, for the functions that took most of its time.
///
/// The truth about a function is a run in which every call of this one is recorded, and the others are sampled: were
/// all recorded, each call would last longer by what the probes of its callees cost.
public final class Accuracy {
    private static final double GOAL_PERCENT = 5;

    private final List<FunctionProfile> truths;
    private final List<Map<String, FunctionProfile>> sampled;

    /// @param sampled profiles, of which each has some of the functions
    public Accuracy(List<FunctionProfile> truths, List<List<FunctionProfile>> sampled) {
        this.truths = truths;
        this.sampled = sampled.stream().map(Accuracy::bySymbol).toList();
    }

    private static Map<String, FunctionProfile> bySymbol(List<FunctionProfile> functions) {
        return functions.stream()
                .collect(Collectors.toMap(FunctionProfile::symbol, Function.identity(), (one, other) -> one));
    }

    /// A line for a table, of errors relative to the truth; the goal is 5 %.
    public String row() {
        return format(
                Locale.ROOT,
                "%-28s %-28s %-28s %-28s %-28s %-16s %s",
                errors(function -> OptionalLong.of(function.calls())),
                errors(FunctionProfile::totalNanos),
                errors(function -> function.latency().percentileNanos(50)),
                errors(function -> function.latency().percentileNanos(90)),
                errors(function -> function.latency().percentileNanos(99)),
                covered(function -> OptionalLong.of(function.calls()), FunctionProfile::callsError),
                covered(FunctionProfile::totalNanos, FunctionProfile::totalError));
    }

    public static String header() {
        return format(
                Locale.ROOT,
                "%-28s %-28s %-28s %-28s %-28s %-16s %s",
                "CALLS median, worst (bias)",
                "TOTAL",
                "P50",
                "P90",
                "P99",
                "CALLS IN BOUNDS",
                "TOTAL IN BOUNDS");
    }

    private String errors(Function<FunctionProfile, OptionalLong> value) {
        List<Double> errors = new ArrayList<>();
        for (FunctionProfile function : truths) {
            OptionalLong truth = value.apply(function);
            if (truth.isEmpty() || truth.getAsLong() == 0) {
                continue;
            }
            for (Map<String, FunctionProfile> profile : sampled) {
                FunctionProfile estimate = profile.get(function.symbol());
                OptionalLong estimated = estimate == null ? OptionalLong.empty() : value.apply(estimate);
                errors.add(100.0 * (estimated.orElse(0) - truth.getAsLong()) / truth.getAsLong());
            }
        }
        if (errors.isEmpty()) {
            return "-";
        }
        double bias = errors.stream().mapToDouble(Double::doubleValue).average().orElse(0);
        double[] sizes = errors.stream().mapToDouble(Math::abs).sorted().toArray();
        double median = Percentile.median(sizes);
        return format(
                Locale.ROOT,
                "%.1f %%, %.0f %% (%+.1f %%) %s",
                median,
                sizes[sizes.length - 1],
                bias,
                median <= GOAL_PERCENT ? "met" : "missed");
    }

    /// How many truths lie within the bounds of 95 % that estimates state.
    private String covered(
            Function<FunctionProfile, OptionalLong> value, Function<FunctionProfile, OptionalDouble> relativeError) {
        int within = 0;
        int all = 0;
        for (FunctionProfile function : truths) {
            OptionalLong truth = value.apply(function);
            for (Map<String, FunctionProfile> profile : sampled) {
                FunctionProfile estimate = profile.get(function.symbol());
                OptionalLong estimated = estimate == null ? OptionalLong.empty() : value.apply(estimate);
                if (truth.isEmpty() || estimate == null || estimated.isEmpty()) {
                    continue;
                }
                double bound = relativeError.apply(estimate).orElse(0) * estimated.getAsLong();
                all++;
                within += Math.abs(estimated.getAsLong() - truth.getAsLong()) <= bound ? 1 : 0;
            }
        }
        return format(Locale.ROOT, "%d of %d", within, all);
    }
}
