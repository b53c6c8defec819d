package org.mdlagent.arch;

/// What a thread does that meets a trapping byte, in place of the instruction that stood there.
public sealed interface Redirect {
    /// Goes on at `target`.
    record Jump(long target) implements Redirect {}

    /// Calls `target`; the return address is that of the trapping byte plus `length`.
    record Call(long target, int length) implements Redirect {}

    /// Spins until the trapping byte has changed: what the paper's handler does (PLDI 2016, figure 5). Only for
    /// comparison, because a patcher that is stopped meanwhile stops the thread.
    record Spin() implements Redirect {}
}
