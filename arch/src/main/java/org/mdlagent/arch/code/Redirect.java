package org.mdlagent.arch.code;

import org.mdlagent.arch.layout.TrapDescriptor;

/// What a thread does that meets a trapping byte, in place of the instruction that stood there.
public sealed interface Redirect {
    /// As the trap table says it, in one word.
    ///
    /// @throws IllegalArgumentException when a target is no address of a user's
    long action();

    /// Goes on at `target`.
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

    /// Spins until the trapping byte has changed: what the paper's handler does (PLDI 2016, figure 5). Only for
    /// comparison, because a patcher that is stopped meanwhile stops the thread.
    record Spin() implements Redirect {
        @Override
        public long action() {
            return Redirect.action(TrapDescriptor.KIND_SPIN, 0, 0);
        }
    }

    private static long action(int kind, int length, long target) {
        if (target >>> TrapDescriptor.LENGTH_SHIFT != 0) {
            throw new IllegalArgumentException("no address of a user's: 0x" + Long.toHexString(target));
        }
        return (long) kind << TrapDescriptor.KIND_SHIFT | (long) length << TrapDescriptor.LENGTH_SHIFT | target;
    }
}
