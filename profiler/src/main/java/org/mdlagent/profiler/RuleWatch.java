package org.mdlagent.profiler;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import org.mdlagent.arch.layout.RowBuckets;

/// Says at the end of each window whether a [Rule] held in it.
///
/// Not thread-safe.
final class RuleWatch {
    /// Reads what is known of the functions of the rule.
    interface Source {
        /// Calls of a function so far.
        long calls(int function);

        /// Adds a function's timed calls so far to slots of [RowBuckets].
        void addDurations(int function, long[] slots);
    }

    private final Rule rule;
    private final Source source;
    private final double ticksPerNano;
    private final List<Integer> functions = new ArrayList<>();
    private long[] before = new long[RowBuckets.SLOTS];
    private long callsBefore;

    /// Calls when a function was added: from before the collector began.
    private long callsAtBegin;

    RuleWatch(Rule rule, Source source, double ticksPerNano) {
        this.rule = rule;
        this.source = source;
        this.ticksPerNano = ticksPerNano;
    }

    /// The rule is about this function, too.
    void add(int function) {
        if (!functions.contains(function)) {
            functions.add(function);
            long calls = source.calls(function);
            callsAtBegin += calls;
            callsBefore += calls;
            source.addDurations(function, before);
        }
    }

    /// Ends a window.
    ///
    /// @param seconds since the last one
    /// @return whether the rule held in it
    boolean look(double seconds) {
        return rule.holds(value(seconds));
    }

    private OptionalDouble value(double seconds) {
        long calls = functions.stream().mapToLong(source::calls).sum();
        long inWindow = calls - callsBefore;
        callsBefore = calls;
        if (!rule.measure().isTimed()) {
            return OptionalDouble.of(rule.measure() == Rule.Measure.CALLS ? calls - callsAtBegin : inWindow / seconds);
        }
        long[] now = new long[RowBuckets.SLOTS];
        functions.forEach(function -> source.addDurations(function, now));
        long[] window = now.clone();
        for (int i = 0; i < window.length; i++) {
            window[i] = Math.max(0, window[i] - before[i]);
        }
        before = now;
        if (FunctionDurations.calls(window) < rule.measure().least()) {
            return OptionalDouble.empty();
        }
        double ticks = switch (rule.measure()) {
            case MEAN -> FunctionDurations.mean(window);
            case P50 -> FunctionDurations.ticks(window, 0.5);
            case P90 -> FunctionDurations.ticks(window, 0.1);
            case P99 -> FunctionDurations.ticks(window, 0.01);
            case P999 -> FunctionDurations.ticks(window, 0.001);
            default -> FunctionDurations.ticks(window, 0);
        };
        return OptionalDouble.of(ticks / ticksPerNano);
    }
}
