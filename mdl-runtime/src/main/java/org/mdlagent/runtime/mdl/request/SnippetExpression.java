package org.mdlagent.runtime.mdl.request;

import java.util.List;
import org.mdlagent.runtime.mdl.syntax.Operator;

/// Code with all names resolved. Numbers are signed 64-bit integers; a condition is true if not 0.
public sealed interface SnippetExpression {
    record Constant(long value) implements SnippetExpression {}

    /// An argument of a call: the address of a constant string.
    record Text(String value) implements SnippetExpression {}

    /// A counter of this thread.
    record Load(Value counter) implements SnippetExpression {}

    /// Sets a counter; yields the new value.
    record Store(Value counter, SnippetExpression value) implements SnippetExpression {}

    /// Adds to a counter atomically with respect to signal handlers; yields the new value.
    record Add(Value counter, SnippetExpression amount) implements SnippetExpression {}

    /// @param index 0 to 5
    record Argument(int index) implements SnippetExpression {}

    /// The function's result.
    record Result() implements SnippetExpression {}

    /// A global variable's value.
    record Global(Symbol symbol) implements SnippetExpression {}

    record AddressOf(Symbol symbol) implements SnippetExpression {}

    /// Eight bytes of the target's memory; 0, and an error is counted, if unmapped.
    record Memory(SnippetExpression address) implements SnippetExpression {}

    /// The file behind a descriptor: the number of its name, 0 or below if it has none.
    record FileOf(SnippetExpression descriptor) implements SnippetExpression {}

    record Negate(SnippetExpression operand) implements SnippetExpression {}

    /// `AND` and `OR` evaluate the right operand only if the left one does not decide. A division by zero yields 0, and
    /// an error is counted.
    record Binary(Operator operator, SnippetExpression left, SnippetExpression right) implements SnippetExpression {}

    /// Starts a timer; yields 0. It runs while starts exceed stops.
    record Start(Value timer) implements SnippetExpression {}

    /// Stops a timer; yields 0.
    record Stop(Value timer) implements SnippetExpression {}

    /// Notes a number that the thread has encountered; yields 0.
    ///
    /// @param table the table for this kind of number
    record Discover(Value table, SnippetExpression number) implements SnippetExpression {}

    /// The index, from 1, of the selected object with a number; 0 if no request selects it.
    ///
    /// @param selector the vector
    record Position(Value selector, SnippetExpression number) implements SnippetExpression {}

    /// Calls a function of the target.
    record Call(Symbol function, List<SnippetExpression> arguments) implements SnippetExpression {}
}
