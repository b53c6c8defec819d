package org.mdlagent.arch.x86.emit;

/// Location of the caller's registers from an instruction on.
///
/// @param offset of the instruction
record UnwindRow(int offset, Rule rule) {
    enum Rule {
        /// As at a function's first instruction: the return address is on top of the stack.
        CALLED,
        /// The words of a call are on top of the stack, followed by the return address.
        IN_CALL
    }
}
