package org.mdlagent.arch.snippet;

import java.util.List;
import org.mdlagent.arch.layout.ValueDescriptor;

/// A snippet's statement. There are no loops, so its cost is bounded.
public sealed interface Statement {

    /// Sets a value of the running thread.
    record Store(int value, Expression expression) implements Statement {
        public Store {
            requireValue(value);
        }
    }

    /// Adds to a value of the running thread by one instruction, so signal handlers may do the same.
    record Add(int value, Expression amount) implements Statement {
        public Add {
            requireValue(value);
        }
    }

    /// Calls a function for its effect.
    record Run(Expression.Call call) implements Statement {}

    /// Runs the body if the condition is not 0.
    record If(Expression condition, List<Statement> body) implements Statement {
        public If {
            body = List.copyOf(body);
        }
    }

    /// Starts a timer of the running thread; if it is running, only counts the start.
    ///
    /// @param timer the first of its values
    record Start(int timer, Clock clock) implements Statement {
        public Start {
            requireTimer(timer);
        }
    }

    /// Undoes one start; undoing the last one stops the timer. No effect if it is not running.
    ///
    /// @param timer the first of its values
    record Stop(int timer, Clock clock) implements Statement {
        public Stop {
            requireTimer(timer);
        }
    }

    /// Adds the member to a set if a value is not 0; otherwise removes it.
    record Mark(int value, Expression.Member member) implements Statement {
        public Mark {
            requireValue(value);
        }
    }

    /// Runs the body once for each member that a set has when the statement begins, in bit order. Members have
    /// their own adjacent values: those of the next bit begin `stride` values later.
    ///
    /// @param written the member that the body is written for
    /// @param members bits of the members that it applies to
    /// @param first   the first value of `written`'s own
    /// @param stride  number of values of a member, at least 1
    /// @param body    has no statement of this kind, and does not change the set
    record ForEach(Expression.Member written, long members, int first, int stride, List<Statement> body)
            implements Statement {
        public ForEach {
            for (long rest = members; rest != 0; rest &= rest - 1) {
                int bit = Long.numberOfTrailingZeros(rest);
                if (!hasRoom(first, stride, bit - written.bit())) {
                    throw new IllegalArgumentException("no values for member " + bit);
                }
            }
            body = List.copyOf(body);
        }

        /// Whether there are values for the member this many bits later.
        static boolean hasRoom(int first, int stride, int bits) {
            long own = first + (long) stride * bits;
            return stride > 0 && own > ValueDescriptor.DEPTH && own + stride <= ValueDescriptor.VALUES;
        }

        /// Whether each member has its own instance of this value.
        public boolean isOwn(int value) {
            return value >= first && value < first + stride;
        }

        /// The body for another member.
        List<Statement> bodyOf(int bit) {
            int distance = stride * (bit - written.bit());
            return Rewriting.renumbering(value -> isOwn(value) ? value + distance : value)
                    .of(body);
        }
    }

    /// Runs the body for the instance that a value selects, if it selects one. Instances have their own adjacent
    /// values: those of the next one begin `stride` values later.
    ///
    /// @param selector the value that selects one
    /// @param lowest   the number of the first instance, which the body is written for
    /// @param count    number of instances
    /// @param first    the first value of that instance's own
    /// @param stride   number of values of an instance, at least 1
    /// @param body     has no statement of this kind or of [ForEach], and does not change the selector
    record ForSelected(int selector, int lowest, int count, int first, int stride, List<Statement> body)
            implements Statement {
        public ForSelected {
            requireValue(selector);
            if (count < 1 || !ForEach.hasRoom(first, stride, 0) || !ForEach.hasRoom(first, stride, count - 1)) {
                throw new IllegalArgumentException("no values for " + count + " instances");
            }
            body = List.copyOf(body);
        }

        /// Whether each instance has its own instance of this value.
        public boolean isOwn(int value) {
            return value >= first && value < first + stride;
        }

        /// The body for an instance.
        List<Statement> bodyOf(int number) {
            int distance = stride * (number - lowest);
            return Rewriting.renumbering(value -> isOwn(value) ? value + distance : value)
                    .of(body);
        }
    }

    /// Computes a value that the rest of the chain uses as [Expression.Common].
    record Let(int slot, Expression expression) implements Statement {
        public Let {
            Expression.Common.requireSlot(slot);
        }
    }

    /// Stores a number in a table of the running thread; a reader takes it and leaves 0. No effect for 0 or a
    /// number that is present; a number whose places are all taken is dropped.
    ///
    /// @param table first of its values
    record Discover(int table, Expression number) implements Statement {
        /// Possible starts of a number's places.
        public static final int STARTS = 128;

        /// Adjacent places of a number.
        public static final int PLACES = 4;

        /// Values of a table.
        public static final int SIZE = STARTS + PLACES - 1;

        public Discover {
            requireValue(table);
            requireValue(table + SIZE - 1);
        }
    }

    /// The clock of a timer.
    enum Clock {
        /// Elapsed time, in ticks of the time-stamp counter.
        WALL,
        /// CPU time of the thread, in nanoseconds. Needs a system call.
        THREAD_CPU
    }

    /// @throws IllegalArgumentException if threads have no such value for snippets
    static void requireValue(int index) {
        if (index <= ValueDescriptor.DEPTH || index >= ValueDescriptor.VALUES) {
            throw new IllegalArgumentException("no value " + index);
        }
    }

    private static void requireTimer(int first) {
        requireValue(first);
        requireValue(first + ValueDescriptor.TIMER_SIZE - 1);
    }
}
