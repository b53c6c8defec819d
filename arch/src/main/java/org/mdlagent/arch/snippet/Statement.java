package org.mdlagent.arch.snippet;

import java.util.List;
import org.mdlagent.arch.layout.ValueDescriptor;

/// What a snippet does. There is no loop, so what it costs is bounded.
public sealed interface Statement {

    /// Sets a value of the running thread.
    record Store(int value, Expression expression) implements Statement {
        public Store {
            requireValue(value);
        }
    }

    /// Adds to a value of the running thread, by one instruction: signal handlers may do the same.
    record Add(int value, Expression amount) implements Statement {
        public Add {
            requireValue(value);
        }
    }

    /// Calls a function for what it does.
    record Run(Expression.Call call) implements Statement {}

    /// Runs the body when the condition is not 0.
    record If(Expression condition, List<Statement> body) implements Statement {
        public If {
            body = List.copyOf(body);
        }
    }

    /// Starts a timer of the running thread, or only counts the start when it runs.
    ///
    /// @param timer the first of its values
    record Start(int timer, Clock clock) implements Statement {
        public Start {
            requireTimer(timer);
        }
    }

    /// Takes back one start: the timer stops with the last. Nothing happens when it does not run.
    ///
    /// @param timer the first of its values
    record Stop(int timer, Clock clock) implements Statement {
        public Stop {
            requireTimer(timer);
        }
    }

    /// Lets a set have the member if a value is not 0, and else not.
    record Mark(int value, Expression.Member member) implements Statement {
        public Mark {
            requireValue(value);
        }
    }

    /// Runs the body once for each member that a set has when the statement begins, in the order of their bits. Members
    /// have values of their own, which lie side by side: those of the next bit begin `stride` values farther.
    ///
    /// @param written the member for which the body is written down
    /// @param members bits of those that it is for
    /// @param first   the first value of `written`'s own
    /// @param stride  how many values a member has, 1 or more
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

        /// Whether there are values for the member that is so many bits farther.
        static boolean hasRoom(int first, int stride, int bits) {
            long own = first + (long) stride * bits;
            return stride > 0 && own > ValueDescriptor.DEPTH && own + stride <= ValueDescriptor.COUNT;
        }

        /// Whether each member has a value of its own where the body names this one.
        public boolean isOwn(int value) {
            return value >= first && value < first + stride;
        }

        /// What is run for another member.
        List<Statement> bodyOf(int bit) {
            int distance = stride * (bit - written.bit());
            return Rewriting.renumbering(value -> isOwn(value) ? value + distance : value)
                    .of(body);
        }
    }

    /// Runs the body for the one of several instances that a value names, if it names one of them. Instances
    /// have values of their own, which lie side by side: those of the next one begin `stride` values farther.
    ///
    /// @param selector the value that names one
    /// @param lowest   the number of the first of the instances, for which the body is written down
    /// @param count    how many there are
    /// @param first    the first value of that instance's own
    /// @param stride   how many values an instance has, 1 or more
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

        /// Whether each instance has a value of its own where the body names this one.
        public boolean isOwn(int value) {
            return value >= first && value < first + stride;
        }

        /// What is run for an instance.
        List<Statement> bodyOf(int number) {
            int distance = stride * (number - lowest);
            return Rewriting.renumbering(value -> isOwn(value) ? value + distance : value)
                    .of(body);
        }
    }

    /// Computes what the rest of the chain has as [Expression.Common].
    record Let(int slot, Expression expression) implements Statement {
        public Let {
            Expression.Common.requireSlot(slot);
        }
    }

    /// Keeps a number in a table of the running thread, for whoever takes it from there and leaves a 0. A number
    /// that is there already, or 0, changes nothing; one whose places are all taken is left out.
    ///
    /// @param table first of its values
    record Discover(int table, Expression number) implements Statement {
        /// Where the places of a number may begin.
        public static final int STARTS = 128;

        /// Places that a number may have, side by side.
        public static final int PLACES = 4;

        /// Values of a table.
        public static final int SIZE = STARTS + PLACES - 1;

        public Discover {
            requireValue(table);
            requireValue(table + SIZE - 1);
        }
    }

    /// What timers measure.
    enum Clock {
        /// Elapsed time, in ticks of the time-stamp counter.
        WALL,
        /// CPU time of the thread, in nanoseconds. It takes a system call, since no register tells it.
        THREAD_CPU
    }

    /// @throws IllegalArgumentException when threads have no such value for snippets
    static void requireValue(int index) {
        if (index <= ValueDescriptor.DEPTH || index >= ValueDescriptor.COUNT) {
            throw new IllegalArgumentException("no value " + index);
        }
    }

    private static void requireTimer(int first) {
        requireValue(first);
        requireValue(first + ValueDescriptor.TIMER_SIZE - 1);
    }
}
