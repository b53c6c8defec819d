package org.mdlagent.runtime.mdl;

import java.util.List;
import org.mdlagent.runtime.mdl.syntax.Statement;
import org.mdlagent.runtime.mdl.syntax.ValueKind;

/// A metric whose names and types are right.
///
/// @param id          the name that requests use
/// @param name        shown to people
/// @param units       shown to people
/// @param flavors     where it is valid; empty: everywhere
/// @param developer   whether listings leave it out unless asked
/// @param constraints that may be applied, in the order of the file
/// @param counters    temporaries, private to a metric and a focus
/// @param event       what the kernel counts, "" where the value is made by code
/// @param base        asks for the code without constraints
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

    /// When a value is made.
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
