package org.mdlagent.arch.snippet;

import java.util.List;

/// Code that runs at a probe, in the thread that reaches it.
public record Snippet(List<Statement> statements) {
    public Snippet {
        statements = List.copyOf(statements);
    }

    public static Snippet of(Statement... statements) {
        return new Snippet(List.of(statements));
    }

    /// The same, run only while `flag` is not 0 in the running thread.
    public Snippet constrained(int flag) {
        return constrained(new Expression.Value(flag));
    }

    /// The same, run only while `condition` is not 0 in the running thread.
    public Snippet constrained(Expression condition) {
        return Snippet.of(new Statement.If(condition, statements));
    }
}
