package org.mdlagent.runtime.mdl;

import java.util.List;
import org.mdlagent.runtime.mdl.syntax.Statement;
import org.mdlagent.runtime.mdl.syntax.ValueKind;

/// A checked metric.
///
/// @param id          its name in requests
/// @param name        shown to people
/// @param units       shown to people
/// @param flavors     flavors of programs it is valid for; empty: all
/// @param developer   whether listings omit it by default
/// @param constraints that may be applied, in the order of the file
/// @param counters    temporaries, private to a metric and a focus
/// @param event       kernel event, "" if code produces the value
/// @param base        requests the code without constraints
public record Metric(
        String id,
        String name,
        String units,
        UnitsType unitsType,
        Aggregate aggregate,
        Style style,
        List<String> flavors,
        boolean developer,
        List<Constraint> constraints,
        List<String> counters,
        ValueKind kind,
        String event,
        List<Statement> base) {

    /// How a value is shown.
    public enum UnitsType {
        /// As a rate over time.
        NORMALIZED("normalized"),
        UNNORMALIZED("unnormalized"),
        SAMPLED("sampled");

        private final String word;

        UnitsType(String word) {
            this.word = word;
        }

        String word() {
            return word;
        }
    }

    /// How the values of threads and processes combine.
    public enum Aggregate {
        SUM("sum"),
        MIN("min"),
        MAX("max"),
        AVERAGE("avg");

        private final String word;

        Aggregate(String word) {
            this.word = word;
        }

        String word() {
            return word;
        }
    }

    /// When a value is produced.
    public enum Style {
        /// By events.
        EVENT_COUNTER("EventCounter"),
        /// At the end of each interval.
        SAMPLED_FUNCTION("SampledFunction");

        private final String word;

        Style(String word) {
            this.word = word;
        }

        String word() {
            return word;
        }
    }
}
