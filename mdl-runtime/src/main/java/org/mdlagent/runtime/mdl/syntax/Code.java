package org.mdlagent.runtime.mdl.syntax;

import java.util.List;

/// A statement between `(*` and `*)`, which runs in the target.
public sealed interface Code {
    /// Offset in the file.
    int at();

    /// `expression;`.
    record Effect(Expression expression) implements Code {
        @Override
        public int at() {
            return expression.at();
        }
    }

    /// `if (condition) statement`, or with braces `if (condition) { statement... }`.
    ///
    /// @param body has one statement or more
    record If(Expression condition, List<Code> body) implements Code {
        @Override
        public int at() {
            return body.getFirst().at();
        }
    }
}
