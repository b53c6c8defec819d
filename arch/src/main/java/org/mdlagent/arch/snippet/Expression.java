package org.mdlagent.arch.snippet;

import java.util.List;

/// A snippet's expression: signed 64-bit arithmetic that wraps around. Expressions have no side effects, except
/// that they count errors and may call functions.
public sealed interface Expression {

    /// A constant.
    record Constant(long number) implements Expression {}

    /// A value of the running thread.
    ///
    /// @param index of the thread's value
    record Value(int index) implements Expression {
        public Value {
            Statement.requireValue(index);
        }
    }

    /// An argument of the entered function that is passed in an integer register.
    ///
    /// @param number counted from 0
    record Argument(int number) implements Expression {
        public static final int COUNT = 6;

        public Argument {
            if (number < 0 || number >= COUNT) {
                throw new IllegalArgumentException("argument " + number + " is not passed in a register");
            }
        }
    }

    /// The integer result of the function that has ended.
    record Result() implements Expression {}

    /// The return address of the current call: identifies its call site.
    record ReturnAddress() implements Expression {}

    /// A variable of the program.
    ///
    /// @param address of the variable; its memory must stay as long as the snippet is attached
    record Load(long address, Width width) implements Expression {}

    /// Eight bytes of the program's memory; 0 if they cannot be read, and then the value `errors` is incremented.
    record Read(Expression address, int errors) implements Expression {
        public Read {
            Statement.requireValue(errors);
        }
    }

    /// Calls a function of the program with these arguments; yields its integer result. If the thread is in such a
    /// call already, yields 0 and increments the value `errors`. The call may run other snippets, so nothing is
    /// moved across it.
    ///
    /// @param function  its address; its code stays as long as the snippet is attached
    /// @param arguments at most [Argument#COUNT]
    record Call(long function, List<Expression> arguments, int errors) implements Expression {
        public Call {
            arguments = List.copyOf(arguments);
            if (arguments.size() > Argument.COUNT) {
                throw new IllegalArgumentException(
                        "a function is called with " + Argument.COUNT + " arguments at most, not " + arguments.size());
            }
            Statement.requireValue(errors);
        }
    }

    /// `left operator right`.
    record Binary(Operator operator, Expression left, Expression right) implements Expression {}

    /// `left / right`, rounded towards 0; 0 if `right` is 0, and then the value `errors` is incremented.
    record Divide(Expression left, Expression right, int errors) implements Expression {
        public Divide {
            Statement.requireValue(errors);
        }
    }

    /// 1 if the relation holds, else 0.
    record Compare(Relation relation, Expression left, Expression right) implements Expression {}

    /// 1 if neither is 0, else 0; `right` is not computed if `left` is 0.
    record And(Expression left, Expression right) implements Expression {}

    /// 0 if both are 0, else 1; `right` is not computed if `left` is not 0.
    record Or(Expression left, Expression right) implements Expression {}

    /// 1 if a thread's set, a 64-bit value, has the member, else 0 (see [Statement.Mark]).
    ///
    /// @param set index of the value
    /// @param bit 0 to 63
    record Member(int set, int bit) implements Expression {
        public Member {
            Statement.requireValue(set);
            if (bit < 0 || bit >= Long.SIZE) {
                throw new IllegalArgumentException("a set has no member " + bit);
            }
        }
    }

    /// Looks up a number in a table in constant time: its position, from 1 on; 0 if the table does not have it.
    ///
    /// @param table address of a word that leads to the table ([PositionTableDescriptor]); it may change
    /// @param direct whether the numbers themselves are indices of the table, else they are hashed
    record Position(Expression number, long table, boolean direct) implements Expression {}

    /// The result of [Statement.Let].
    record Common(int slot) implements Expression {
        public static final int COUNT = 2;

        public Common {
            requireSlot(slot);
        }

        static void requireSlot(int slot) {
            if (slot < 0 || slot >= COUNT) {
                throw new IllegalArgumentException("no place " + slot + " for a common subexpression");
            }
        }
    }

    /// Size in bytes and sign of a variable.
    enum Width {
        U8(1, false),
        S8(1, true),
        U16(2, false),
        S16(2, true),
        U32(4, false),
        S32(4, true),
        U64(8, false);

        private final int bytes;
        private final boolean signed;

        Width(int bytes, boolean signed) {
            this.bytes = bytes;
            this.signed = signed;
        }

        public int bytes() {
            return bytes;
        }

        /// Whether it is sign-extended instead of zero-extended.
        public boolean signed() {
            return signed;
        }
    }

    enum Operator {
        ADD {
            @Override
            public long apply(long left, long right) {
                return left + right;
            }
        },
        SUBTRACT {
            @Override
            public long apply(long left, long right) {
                return left - right;
            }
        },
        MULTIPLY {
            @Override
            public long apply(long left, long right) {
                return left * right;
            }
        };

        public abstract long apply(long left, long right);
    }

    /// Comparison of signed numbers.
    enum Relation {
        EQUAL,
        NOT_EQUAL,
        LESS,
        LESS_OR_EQUAL,
        GREATER,
        GREATER_OR_EQUAL;

        /// The negated relation.
        public Relation negated() {
            return switch (this) {
                case EQUAL -> NOT_EQUAL;
                case NOT_EQUAL -> EQUAL;
                case LESS -> GREATER_OR_EQUAL;
                case LESS_OR_EQUAL -> GREATER;
                case GREATER -> LESS_OR_EQUAL;
                case GREATER_OR_EQUAL -> LESS;
            };
        }

        public boolean holds(long left, long right) {
            int order = Long.compare(left, right);
            return switch (this) {
                case EQUAL -> order == 0;
                case NOT_EQUAL -> order != 0;
                case LESS -> order < 0;
                case LESS_OR_EQUAL -> order <= 0;
                case GREATER -> order > 0;
                case GREATER_OR_EQUAL -> order >= 0;
            };
        }
    }
}
