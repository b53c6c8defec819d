package org.mdlagent.arch.x86.emit;

/// From an instruction on, where the caller's registers are.
///
/// @param offset of the instruction
record UnwindRow(int offset, Rule rule) {
    enum Rule {
        /// As at a function's first instruction: the return address is on top of the stack.
        CALLED,
        /// The return address is in the frame at R11.
        POPPED,
        /// The return address and RBX are in the frame at RBX.
        FRAMED,
        /// The return address is on top of the stack again, RBX still in the frame at RBX.
        RETURNING,
        /// The same, RBX in RCX.
        RBX_IN_RCX
    }
}
