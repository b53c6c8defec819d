package org.mdlagent.runtime.mdl.syntax;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// A definition of a file.
public sealed interface Definition {
    /// Offset in the file.
    int at();

    /// `list`, `resourceList`, and the older `resourceList(...)`.
    ///
    /// @param items as written, strings without quotes
    record Items(Name name, ItemType type, List<Name> items, List<Name> flavors, boolean library, int at)
            implements Definition {}

    /// Type of a list's items.
    enum ItemType {
        PROCEDURE("procedure"),
        MODULE("module"),
        STRING("string"),
        INTEGER("int"),
        FLOAT("float");

        private final String word;

        ItemType(String word) {
            this.word = word;
        }

        public String word() {
            return word;
        }
    }

    /// `constraint NAME /path is ...`.
    ///
    /// @param path  names and asterisks
    /// @param kind  kind of the value that replaces the metric's base; COUNTER for a flag; null for a default
    /// @param index of a vector of flags; null for none
    record Constraint(
            Name name,
            List<Name> path,
            boolean replaces,
            @Nullable ValueKind kind,
            @Nullable Index index,
            List<Statement> statements,
            int at)
            implements Definition {
        /// Whether the component needs no code.
        public boolean isDefault() {
            return kind == null;
        }
    }

    /// How a vector finds the object with a number.
    enum Index {
        DIRECT("direct"),
        HASHED("hashed");

        private final String word;

        Index(String word) {
            this.word = word;
        }

        public String word() {
            return word;
        }
    }

    record Metric(Name name, List<MetricField> fields, int at) implements Definition {}

    /// `exclude`: code that is not instrumented.
    record Exclude(String what, boolean ignoringCase, boolean regex, int at) implements Definition {}

    /// `tunable_constant`, with one entry or several.
    record Tunables(List<Tunable> tunables, int at) implements Definition {}

    /// @param value a number or a truth value
    record Tunable(Name name, Expression value) {}

    /// A daemon, process or visi: parsed and ignored.
    record Foreign(Name kind, Name name, List<ForeignField> fields, int at) implements Definition {}

    /// @param values words, numbers and strings as written
    record ForeignField(Name name, List<String> values) {}

    /// A statement outside a metric.
    record Bare(Statement statement) implements Definition {
        @Override
        public int at() {
            return statement.at();
        }
    }
}
