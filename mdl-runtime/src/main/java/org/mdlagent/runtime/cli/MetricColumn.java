package org.mdlagent.runtime.cli;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;
import java.util.OptionalDouble;
import org.mdlagent.profiler.report.MetricValue;

/// A column of `mdl watch`: of a rate what was added per second between two looks, of all else the value; and how it
/// went, against the largest that is shown.
final class MetricColumn {
    private static final String BARS = "▁▂▃▄▅▆▇█";
    private static final int LOOKS = 8;

    private final Deque<Double> history = new ArrayDeque<>();
    private final String head;
    private final int width;
    private MetricValue last;
    private OptionalDouble shown = OptionalDouble.empty();

    MetricColumn(MetricValue first) {
        last = first;
        String focus = first.focus().isEmpty() ? "" : "  " + String.join(" ", first.focus());
        head = first.id() + " (" + first.units() + ")" + focus;
        width = Math.max(head.length(), 12 + LOOKS);
    }

    String head() {
        return pad(head);
    }

    /// A further look.
    void add(MetricValue now) {
        shown = now.unitsType() == MetricValue.UnitsType.RATE ? rate(last, now) : now.amount();
        last = now;
        if (history.size() == LOOKS) {
            history.removeFirst();
        }
        history.addLast(shown.orElse(0));
    }

    private static OptionalDouble rate(MetricValue before, MetricValue now) {
        double seconds = now.seconds().orElse(0) - before.seconds().orElse(0);
        return now.amount().isPresent() && before.amount().isPresent() && seconds > 0
                ? OptionalDouble.of(
                        (now.amount().getAsDouble() - before.amount().getAsDouble()) / seconds)
                : OptionalDouble.empty();
    }

    /// The number, and a line of bars.
    String cell() {
        StringBuilder bars = new StringBuilder();
        double most = history.stream().mapToDouble(Double::doubleValue).max().orElse(0);
        for (double value : history) {
            int height = most > 0 ? (int) Math.round(Math.max(0, value) / most * (BARS.length() - 1)) : 0;
            bars.append(BARS.charAt(height));
        }
        return pad(String.format(Locale.ROOT, "%10s  %s", number(), bars));
    }

    private String number() {
        if (shown.isEmpty()) {
            return "-";
        }
        double value = shown.getAsDouble();
        return value == Math.rint(value) && Math.abs(value) < 1e15
                ? Long.toString((long) value)
                : String.format(Locale.ROOT, "%.3f", value);
    }

    private String pad(String text) {
        return text + " ".repeat(Math.max(0, width - text.length()));
    }
}
