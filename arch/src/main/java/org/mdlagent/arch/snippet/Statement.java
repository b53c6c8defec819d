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
