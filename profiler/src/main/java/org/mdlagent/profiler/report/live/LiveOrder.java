package org.mdlagent.profiler.report.live;

import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;

/// Sort keys of a live view: greatest first, names alphabetically. Unknown values come last.
public enum LiveOrder {
    TOTAL,
    RATE,
    P50,
    P99,
    P999,
    NAME;

    /// The next key; after the last, the first.
    public LiveOrder next() {
        return values()[(ordinal() + 1) % values().length];
    }

    /// The functions in this order.
    public List<LiveFunction> sort(List<LiveFunction> functions) {
        Comparator<LiveFunction> byName =
                Comparator.comparing((LiveFunction f) -> f.whole().name()).thenComparingInt(LiveFunction::number);
        Comparator<LiveFunction> byKey = Comparator.comparingDouble(this::key).reversed();
        return functions.stream()
                .sorted(this == NAME ? byName : byKey.thenComparing(byName))
                .toList();
    }

    private double key(LiveFunction function) {
        return switch (this) {
            case TOTAL -> function.totalPercent().orElse(function.rate() > 0 ? 0 : -1);
            case RATE -> function.rate();
            case P50 -> percentile(function, 50);
            case P99 -> percentile(function, 99);
            case P999 -> percentile(function, 99.9);
            case NAME -> 0;
        };
    }

    private static double percentile(LiveFunction function, double percentile) {
        OptionalLong nanos = function.percentileNanos(percentile);
        return nanos.isPresent() ? nanos.getAsLong() : -1;
    }
}
