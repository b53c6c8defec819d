package org.mdlagent.runtime.cli.live;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import org.mdlagent.profiler.report.profile.MetricValue;
import org.mdlagent.profiler.text.ForeignText;

/// A column of `mdl watch`: for a rate, the increase per second between two looks; otherwise the value; and
/// its history as bars, relative to the largest value shown.
final class MetricColumn {
    private static final String BARS = "▁▂▃▄▅▆▇█";
    private static final int LOOKS = 8;

    private final Deque<Double> history = new ArrayDeque<>();
    private final String head;
    private final int width;
    private MetricValue last;
    private OptionalDouble shown = OptionalDouble.empty();
    private boolean fractional;

    MetricColumn(MetricValue first) {
        last = first;
        String focus = first.focus().isEmpty() ? "" : "  " + String.join(" ", first.focus());
        head = ForeignText.printable(first.id() + " (" + first.units() + ")" + focus);
        width = Math.max(head.length(), 12 + LOOKS);
    }

    String head() {
        return pad(head);
    }

    /// Adds a look.
    void add(MetricValue now) {
        shown = now.unitsType() == MetricValue.UnitsType.RATE ? rate(last, now) : now.amount();
        last = now;
        // After the first value with a fraction, all have one, so that they are aligned.
        fractional |= shown.isPresent() && shown.getAsDouble() != Math.rint(shown.getAsDouble());
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

    /// The history before the first look, as bars.
    String past() {
        List<Double> values =
                last.series().stream().map(MetricValue.Point::amount).toList();
        int each = values.size() / width + 1;
        List<Double> means = new ArrayList<>();
        for (int from = 0; from < values.size(); from += each) {
            means.add(values.subList(from, Math.min(values.size(), from + each)).stream()
                    .mapToDouble(Double::doubleValue)
                    .average()
                    .orElse(0));
        }
        return pad(bars(means));
    }

    /// The number, and a row of bars.
    String cell() {
        return pad(narrowCell(number()));
    }

    private String narrowCell(String number) {
        return String.format(Locale.ROOT, "%10s  %-" + LOOKS + "s", number, bars(history));
    }

    /// One line per metric: the number, bars, and the metric's name. Decimal points are aligned.
    static List<String> lines(Collection<MetricColumn> columns) {
        boolean points = columns.stream().anyMatch(column -> column.fractional);
        return columns.stream()
                .map(column -> column.narrowCell(column.number() + (points && !column.fractional ? "    " : ""))
                        + "  "
                        + column.head)
                .toList();
    }

    private static String bars(Collection<Double> values) {
        StringBuilder bars = new StringBuilder();
        double most = values.stream().mapToDouble(Double::doubleValue).max().orElse(0);
        for (double value : values) {
            int height = most > 0 ? (int) Math.round(Math.max(0, value) / most * (BARS.length() - 1)) : 0;
            bars.append(BARS.charAt(height));
        }
        return bars.toString();
    }

    private String number() {
        if (shown.isEmpty()) {
            return "-";
        }
        return fractional
                ? String.format(Locale.ROOT, "%.3f", shown.getAsDouble())
                : Long.toString(Math.round(shown.getAsDouble()));
    }

    private String pad(String text) {
        return text + " ".repeat(Math.max(0, width - text.length()));
    }
}
