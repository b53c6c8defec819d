package org.mdlagent.runtime.mdl.syntax;

import java.util.List;

/// A field of a metric, as written.
public sealed interface MetricField {
    /// Offset in the file.
    int at();

    /// `name`, `units`, `unitsType`, `aggregateOperator`, `style` or `mode`.
    ///
    /// @param value a word; for `name` the text between the quotes
    record Setting(Name field, Name value) implements MetricField {
        @Override
        public int at() {
            return field.at();
        }
    }

    record Flavors(List<Name> flavors, int at) implements MetricField {}

    /// `constraint NAME;`
    record Constrainable(Name constraint, int at) implements MetricField {}

    /// `constraint NAME /path is replace TYPE { ... }`
    record Replacement(Definition.Constraint constraint) implements MetricField {
        @Override
        public int at() {
            return constraint.at();
        }
    }

    /// `counter NAME;`
    record Temporary(Name counter, int at) implements MetricField {}

    /// `base is TYPE { ... }`
    record Base(ValueKind kind, String event, List<Statement> statements, int at) implements MetricField {}
}
