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

    /// A statement of the code.
    ///
    /// @param condition without one it always runs
    public record Step(@Nullable SnippetExpression condition, SnippetExpression effect) {}
}
