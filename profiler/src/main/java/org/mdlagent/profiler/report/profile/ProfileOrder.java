package org.mdlagent.profiler.report.profile;

import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;

/// Sort keys of a report: greatest first, names alphabetically. Unknown values come last.
public enum ProfileOrder {
    SELF,
    TOTAL,
    CALLS,
    CPU,
    MEAN,
    P50,
    P90,
    P99,
    P999,
    MAX,
    NAME;

    /// Self time if the session has measured it, else total time, else calls.
    public static ProfileOrder byDefault(Profile profile) {
        if (profile.session().exact()
                && profile.functions().stream().anyMatch(f -> f.selfNanos().isPresent())) {
            return SELF;
        }
        return profile.functions().stream().anyMatch(f -> f.totalNanos().isPresent()) ? TOTAL : CALLS;
    }

    /// The functions in this order.
    public List<FunctionProfile> sort(List<FunctionProfile> functions) {
        record Keyed(long key, FunctionProfile function) {}
        return functions.stream()
                .map(function -> new Keyed(key(function), function))
                .sorted(Comparator.comparingLong(Keyed::key)
                        .reversed()
                        .thenComparing(keyed -> keyed.function().name())
                        .thenComparing(keyed -> keyed.function().image()))
                .map(Keyed::function)
                .toList();
    }

    /// The first `limit` of the functions in this order.
    public List<FunctionProfile> first(int limit, List<FunctionProfile> functions) {
        List<FunctionProfile> sorted = sort(functions);
        return sorted.subList(0, Math.min(limit, sorted.size()));
    }

    private long key(FunctionProfile function) {
        Latency latency = function.latency();
        OptionalLong key = switch (this) {
            // CPU time is a part of self time; calls that have not returned have only CPU time.
            case SELF -> larger(function.shownSelfNanos(), function.shownCpuNanos());
            // TOTAL is at least the function's own CPU time.
            case TOTAL -> larger(total(function), function.shownCpuNanos());
            case CALLS -> function.knownCalls();
            case CPU -> function.shownCpuNanos();
            case MEAN -> latency.meanNanos();
            case P50 -> function.percentileNanos(50);
            case P90 -> function.percentileNanos(90);
            case P99 -> function.percentileNanos(99);
            case P999 -> function.percentileNanos(99.9);
            case MAX -> latency.maxNanos();
            case NAME -> OptionalLong.empty();
        };
        return key.orElse(-1);
    }

    private static OptionalLong total(FunctionProfile function) {
        if (function.isCpuTotalBetter()) {
            return function.shownCpuTotalNanos();
        }
        return function.shownTotalNanos().isPresent() ? function.shownTotalNanos() : function.shownSelfNanos();
    }

    /// The larger of two values, either of which may be unknown.
    private static OptionalLong larger(OptionalLong a, OptionalLong b) {
        return a.orElse(-1) >= b.orElse(-1) ? a : b;
    }
}
