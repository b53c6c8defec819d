package org.mdlagent.runtime.mdl.request;

import java.util.List;
import org.mdlagent.runtime.mdl.syntax.Operator;

/// Code with all names resolved. Numbers have 64 bits and a sign; conditions are 0 or not.
public sealed interface SnippetExpression {
    record Constant(long value) implements SnippetExpression {}

    /// An argument of a call: the address of a constant string.
    record Text(String value) implements SnippetExpression {}

    /// A counter of this thread.
    record Load(Value counter) implements SnippetExpression {}

    /// Sets a counter; yields the new value.
    record Store(Value counter, SnippetExpression value) implements SnippetExpression {}

    /// Adds to a counter in one step, so that no signal handler comes between; yields the new value.
    record Add(Value counter, SnippetExpression amount) implements SnippetExpression {}

    /// @param index 0 to 5
    record Argument(int index) implements SnippetExpression {}

    /// What the function returns.
    record Result() implements SnippetExpression {}

    /// A global variable's value.
    record Global(Symbol symbol) implements SnippetExpression {}

    record AddressOf(Symbol symbol) implements SnippetExpression {}

    /// Eight bytes of the target; 0, and an error counted, where nothing is mapped.
    record Memory(SnippetExpression address) implements SnippetExpression {}

    /// Which file a descriptor stands for: the number of its name, 0 or below where it has none.
    record FileOf(SnippetExpression descriptor) implements SnippetExpression {}

    record Negate(SnippetExpression operand) implements SnippetExpression {}

    /// `AND` and `OR` evaluate the right operand only if the left one does not decide. A division by zero yields 0, and
    /// an error is counted.
    record Binary(Operator operator, SnippetExpression left, SnippetExpression right) implements SnippetExpression {}

    /// Starts a timer; yields 0. It runs while starts exceed stops.
    record Start(Value timer) implements SnippetExpression {}

    /// Stops a timer; yields 0.
    record Stop(Value timer) implements SnippetExpression {}

    /// Lets a thread tell of a number that it has come by; yields 0.
    ///
    /// @param table of which there is one for each kind of number
    record Discover(Value table, SnippetExpression number) implements SnippetExpression {}

    /// Which of the objects that somebody asks for a number stands for: from 1 on; 0 for none of them.
    ///
    /// @param selector the vector
    record Position(Value selector, SnippetExpression number) implements SnippetExpression {}

    /// Calls a function of the target.
    record Call(Symbol function, List<SnippetExpression> arguments) implements SnippetExpression {}
}
