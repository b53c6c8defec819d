package org.mdlagent.runtime.mdl.request;

import java.util.List;
import java.util.stream.Stream;
import org.mdlagent.runtime.mdl.syntax.Statement;

/// A snippet that a request needs.
///
/// @param order  first or last among the snippets of the point
/// @param guards flags that must all be set for the code to run; empty: it always runs
public record SnippetRequest(
        Point point, Statement.Side side, Statement.Order order, List<Value> guards, List<Step> code) {

    /// Whether it runs at an end: a function's return, or after a call.
    public boolean isAtEnd() {
        return switch (point) {
            case Point.Entry entry -> false;
            case Point.Return end -> true;
            case Point.Call call -> side == Statement.Side.AFTER;
        };
    }

    /// A statement of the code.
    public sealed interface Step {
        /// The statement's expressions, in source order.
        Stream<SnippetExpression> expressions();
    }

    public record Run(SnippetExpression effect) implements Step {
        @Override
        public Stream<SnippetExpression> expressions() {
            return Stream.of(effect);
        }
    }

    /// Runs the body if the condition is not 0.
    public record If(SnippetExpression condition, List<Step> body) implements Step {
        @Override
        public Stream<SnippetExpression> expressions() {
            return Stream.concat(Stream.of(condition), body.stream().flatMap(Step::expressions));
        }
    }
}
