package org.mdlagent.runtime.mdl.syntax;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// An expression, of statements and of code: the syntax does not restrict forms by place.
public sealed interface Expression {
    /// Offset in the file for messages.
    int at();

    record IntegerLiteral(long value, int at) implements Expression {}

    record DecimalLiteral(double value, int at) implements Expression {}

    record StringLiteral(String value, int at) implements Expression {}

    record BooleanLiteral(boolean value, int at) implements Expression {}

    /// A name, with its dollar sign if it has one.
    record Variable(String name, int at) implements Expression {}

    /// `of.name`.
    record Attribute(Expression of, Name name) implements Expression {
        @Override
        public int at() {
            return name.at();
        }
    }

    /// `name[index]`.
    record Element(Name of, Expression index) implements Expression {
        @Override
        public int at() {
            return of.at();
        }
    }

    /// `-operand`.
    record Negation(Expression operand, int at) implements Expression {}

    /// `&name`.
    record AddressOf(Name name, int at) implements Expression {}

    /// @param at of the operator
    record Binary(Operator operator, Expression left, Expression right, int at) implements Expression {}

    /// `target = value`, or with an operator `target += value`.
    record Assignment(Name target, @Nullable Operator operator, Expression value, int at) implements Expression {}

    /// `target++`.
    record Increment(Name target, int at) implements Expression {}

    /// `function(arguments)`, or `Call("function", arguments)`.
    record Call(Name function, List<Expression> arguments) implements Expression {
        @Override
        public int at() {
            return function.at();
        }
    }
}
