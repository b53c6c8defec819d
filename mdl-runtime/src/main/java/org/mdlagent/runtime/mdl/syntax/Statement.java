package org.mdlagent.runtime.mdl.syntax;

import java.util.List;

/// A statement that is executed at request time.
public sealed interface Statement {
    /// Offset in the file.
    int at();

    record Block(List<Statement> statements, int at) implements Statement {}

    record Foreach(Name variable, Expression in, Statement body, int at) implements Statement {}

    record If(Expression condition, Statement body, int at) implements Statement {}

    /// Requests code at points.
    ///
    /// @param constrained the code runs only while every constraint of the request holds
    record Insert(Order order, Side side, Expression points, boolean constrained, List<Code> code, int at)
            implements Statement {}

    /// Position among the snippets of a point.
    enum Order {
        APPEND("append"),
        PREPEND("prepend");

        private final String word;

        Order(String word) {
            this.word = word;
        }

        public String word() {
            return word;
        }
    }

    /// Before or after the point's instruction; for a call, before or after the whole call.
    enum Side {
        BEFORE("preInsn"),
        AFTER("postInsn");

        private final String word;

        Side(String word) {
            this.word = word;
        }

        public String word() {
            return word;
        }
    }
}
