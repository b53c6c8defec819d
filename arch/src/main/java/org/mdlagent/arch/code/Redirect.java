package org.mdlagent.arch.code;

import org.mdlagent.arch.layout.TrapDescriptor;

/// What a thread does at a trapping byte instead of the replaced instruction.
public sealed interface Redirect {
    /// The encoding in the trap table, in one word.
    ///
    /// @throws IllegalArgumentException if a target is not a user-space address
    long action();

    /// Continues at `target`.
    record Jump(long target) implements Redirect {
        @Override
        public long action() {
            return Redirect.action(TrapDescriptor.KIND_JUMP, 0, target);
        }
    }

    /// Calls `target`; the return address is that of the trapping byte plus `length`.
    record Call(long target, int length) implements Redirect {
        @Override
        public long action() {
            return Redirect.action(TrapDescriptor.KIND_CALL, length, target);
        }
    }

    /// Spins until the trapping byte has changed, as the paper's handler does (PLDI 2016, figure 5). Only for
    /// comparison, because a stopped patcher also stops the thread.
    record Spin() implements Redirect {
        @Override
        public long action() {
            return Redirect.action(TrapDescriptor.KIND_SPIN, 0, 0);
        }
    }

    private static long action(int kind, int length, long target) {
        if (target >>> TrapDescriptor.LENGTH_SHIFT != 0) {
            throw new IllegalArgumentException("not a user-space address: 0x" + Long.toHexString(target));
        }
        return (long) kind << TrapDescriptor.KIND_SHIFT | (long) length << TrapDescriptor.LENGTH_SHIFT | target;
    }
}
