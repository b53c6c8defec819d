package org.mdlagent.bench.report;

import static java.lang.String.format;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.mdlagent.profiler.report.profile.FunctionProfile;

/// Sampled profiles of a program compared with the truth.
public final class Accuracy {
    /// Statistics of a column's estimates.
    ///
    /// @param asked   number of truths
    /// @param errors  errors of shown estimates, in percent of the truth
    /// @param bounded number of estimates with a stated error
    /// @param within  number of those with the truth inside it
    private record Errors(int asked, List<Double> errors, int bounded, int within) {
        double[] sizes() {
            return errors.stream().mapToDouble(Math::abs).toArray();
        }

        double bias() {
            return errors.stream().mapToDouble(Double::doubleValue).average().orElse(Double.NaN);
        }
    }

    private final Map<Column, Errors> columns = new EnumMap<>(Column.class);

    /// A function's estimate and its true value. No estimate if the profile lacks the function.
    private record Pair(OptionalLong estimate, OptionalDouble bound, long truth) {}

    private Accuracy(Map<Column, List<Pair>> pairs) {
        pairs.forEach((column, of) -> columns.put(column, errors(column, of)));
    }

    /// @param truths  of each run
    /// @param sampled profile of each run
    public static Accuracy ofRuns(List<List<Truth>> truths, List<List<FunctionProfile>> sampled) {
        Map<Column, List<Pair>> pairs = new EnumMap<>(Column.class);
        for (int i = 0; i < truths.size(); i++) {
            add(truths.get(i), sampled.get(i), pairs);
        }
        return new Accuracy(pairs);
    }

    private static void add(List<Truth> truths, List<FunctionProfile> profile, Map<Column, List<Pair>> pairs) {
        Map<String, FunctionProfile> functions = profile.stream()
                .collect(Collectors.toMap(FunctionProfile::symbol, Function.identity(), (one, other) -> one));
        for (Truth truth : truths) {
            FunctionProfile estimate = functions.get(truth.symbol());
            truth.values().forEach((column, value) -> {
                if (value != 0) {
                    pairs.computeIfAbsent(column, any -> new ArrayList<>())
                            .add(
                                    estimate == null
                                            ? new Pair(OptionalLong.empty(), OptionalDouble.empty(), value)
                                            : new Pair(column.of(estimate), column.error(estimate), value));
                }
            });
        }
    }

    private static Errors errors(Column column, List<Pair> pairs) {
        List<Double> errors = new ArrayList<>();
        int bounded = 0;
        int within = 0;
        for (Pair pair : pairs) {
            // To readers of the report, an unseen function was not called.
            if (pair.estimate.isPresent() || column == Column.CALLS) {
                long estimate = pair.estimate.orElse(0);
                double error = (double) (estimate - pair.truth);
                errors.add(100 * error / pair.truth);
                if (pair.bound.isPresent()) {
                    bounded++;
                    within += Math.abs(error) <= pair.bound.getAsDouble() * estimate ? 1 : 0;
                }
            }
        }
        return new Errors(pairs.size(), errors, bounded, within);
    }

    /// The median of a column's errors, in percent; NaN if nothing was shown.
    public double median(Column column) {
        Errors errors = columns.get(column);
        return errors == null ? Double.NaN : Percentile.median(errors.sizes());
    }

    /// Percentage of truths outside the stated errors; NaN if none is stated.
    public double outsidePercent() {
        int bounded = columns.values().stream().mapToInt(Errors::bounded).sum();
        int within = columns.values().stream().mapToInt(Errors::within).sum();
        return 100.0 * (bounded - within) / bounded;
    }

    /// A heading, and a line for each column, of errors relative to the truth.
    public List<String> table() {
        List<String> lines = new ArrayList<>();
        lines.add(format(
                Locale.ROOT,
                "  %-6s %10s %10s %10s  %-14s %s",
                "ERROR",
                "MEDIAN",
                "WORST",
                "BIAS",
                "SHOWN",
                "TRUTH WITHIN WHAT IS STATED"));
        columns.forEach((column, errors) -> lines.add(format(
                Locale.ROOT,
                "  %-6s %8.1f %% %8.0f %% %+8.1f %%  %-14s %s",
                column,
                Percentile.median(errors.sizes()),
                errors.errors.isEmpty() ? Double.NaN : Percentile.of(errors.sizes(), 100),
                errors.bias(),
                errors.errors.size() + " of " + errors.asked,
                errors.bounded == 0 ? "-" : errors.within + " of " + errors.bounded)));
        return lines;
    }
}
