package org.mdlagent.arch.x86.emit;

/// From an instruction on, where the caller's registers are.
///
/// @param offset of the instruction
record UnwindRow(int offset, Rule rule) {
    enum Rule {
        /// As at a function's first instruction: the return address is on top of the stack.
        CALLED,
        /// The words of a call lie on top of the stack, and the return address behind them.
        IN_CALL
    }
}
