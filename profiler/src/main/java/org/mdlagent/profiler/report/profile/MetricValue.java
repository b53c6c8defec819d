package org.mdlagent.profiler.report.profile;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

/// The value of a metric for a focus.
///
/// @param id      the name that requests use
/// @param name    for people
/// @param focus   paths of resources; empty for the whole program
/// @param amount  counted or measured since it was enabled, times in seconds; empty if there is none
/// @param seconds since it was enabled; empty if unknown
/// @param errors  divisions by zero in its code
/// @param history earlier amounts
public record MetricValue(
        String id,
        String name,
        String units,
        UnitsType unitsType,
        List<String> focus,
        OptionalDouble amount,
        OptionalDouble seconds,
        long errors,
        List<Point> history) {

    /// How a value is shown.
    public enum UnitsType {
        /// An amount per second.
        RATE,
        /// The amount.
        AMOUNT,
        /// The amount at an instant.
        SAMPLED
    }

    /// The amount at an instant, in seconds since the metric was enabled.
    public record Point(double seconds, double amount) {}

    public MetricValue {
        focus = List.copyOf(focus);
        history = List.copyOf(history);
    }

    /// Values at the instants of the history: for a rate, the mean since the previous instant; otherwise the
    /// amount.
    public List<Point> series() {
        if (unitsType != UnitsType.RATE) {
            return history;
        }
        List<Point> rates = new ArrayList<>();
        Point before = new Point(0, 0);
        for (Point point : history) {
            double rate = (point.amount - before.amount) / (point.seconds - before.seconds);
            rates.add(new Point(point.seconds, rate));
            before = point;
        }
        return rates;
    }

    /// The value in the metric's units: for a rate, the mean since it was enabled.
    public OptionalDouble value() {
        if (unitsType != UnitsType.RATE) {
            return amount;
        }
        return amount.isPresent() && seconds.orElse(0) > 0
                ? OptionalDouble.of(amount.getAsDouble() / seconds.getAsDouble())
                : OptionalDouble.empty();
    }

    /// The request syntax: `METRIC@FOCUS...`.
    public String request() {
        StringBuilder request = new StringBuilder(id);
        focus.forEach(path -> request.append('@').append(path));
        return request.toString();
    }
}
