package org.mdlagent.profiler;

import java.util.Locale;
import java.util.OptionalDouble;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A condition on a function that starts a collection, such as `p99(handle) > 5ms`.
///
/// @param text     as written
/// @param measure  what is compared
/// @param function which functions: a pattern; their calls are taken together
/// @param above    whether it holds above the bound, else below
/// @param bound    in nanoseconds, calls, or calls per second
public record Rule(String text, Measure measure, String function, boolean above, double bound) {
    /// What can be compared.
    public enum Measure {
        /// Calls since the collector began.
        CALLS,
        /// Calls per second in the last window.
        RATE,
        MEAN,
        P50,
        P90,
        P99,
        P999,
        MAX;

        /// Whether it needs durations; otherwise counts are enough.
        public boolean isTimed() {
            return this != CALLS && this != RATE;
        }

        /// Least number of calls in a window without which it is unknown: fewer have no such percentile.
        long least() {
            return switch (this) {
                case P90 -> 10;
                case P99 -> 100;
                case P999 -> 1000;
                default -> 1;
            };
        }
    }

    private static final Pattern SYNTAX = Pattern.compile(
            "\\s*(calls|rate|mean|p50|p90|p99|p99\\.9|max)\\((.+)\\)\\s*([<>])\\s*([0-9]+(?:\\.[0-9]+)?)\\s*(ns|us|ms|s)?\\s*");

    /// How rules are written, for messages.
    public static final String FORM =
            "MEASURE(FUNCTION) > NUMBER with calls, rate, mean, p50, p90, p99, p99.9 or max, such as 'p99(handle) > 5ms' or"
                    + " 'calls(reload) > 0'";

    /// Parses a rule.
    ///
    /// @throws IllegalArgumentException if it is none; the message says how rules are written
    public static Rule parse(String text) {
        Matcher matcher = SYNTAX.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(FORM);
        }
        Measure measure = Measure.valueOf(matcher.group(1).replace(".", "").toUpperCase(Locale.ROOT));
        String unit = matcher.group(5);
        if (measure.isTimed() == (unit == null)) {
            throw new IllegalArgumentException(
                    measure.isTimed() ? "a duration has a unit: ns, us, ms or s" : "a number of calls has no unit");
        }
        double scale = unit == null ? 1 : nanos(unit);
        return new Rule(
                text.strip(),
                measure,
                matcher.group(2).strip(),
                matcher.group(3).equals(">"),
                scale * Double.parseDouble(matcher.group(4)));
    }

    private static double nanos(String unit) {
        return switch (unit) {
            case "us" -> 1e3;
            case "ms" -> 1e6;
            case "s" -> 1e9;
            default -> 1;
        };
    }

    /// Whether it holds for a value; not for an unknown one.
    boolean holds(OptionalDouble value) {
        return value.isPresent() && (above ? value.getAsDouble() > bound : value.getAsDouble() < bound);
    }
}
