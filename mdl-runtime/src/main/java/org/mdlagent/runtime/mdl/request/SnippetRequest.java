package org.mdlagent.runtime.mdl.request;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.mdl.syntax.Statement;

/// A snippet that a request needs.
///
/// @param order  first or last among the snippets of the point
/// @param guards flags that must all be set for the code to run; empty: it always runs
public record SnippetRequest(
        Point point, Statement.Side side, Statement.Order order, List<Value> guards, List<Step> code) {

    /// Whether it runs when something ends: a function that is left, or a call that has been made.
    public boolean isAtEnd() {
        return switch (point) {
            case Point.Entry entry -> false;
            case Point.Return end -> true;
            case Point.Call call -> side == Statement.Side.AFTER;
        };
    }

    /// A statement of the code.
    ///
    /// @param condition without one it always runs
    public record Step(@Nullable SnippetExpression condition, SnippetExpression effect) {}
}
