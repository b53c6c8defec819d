package org.mdlagent.arch.site;

/// An instruction that leads to another function, or may.
///
/// @param address of the instruction
/// @param end     behind it: where a call returns to
/// @param target  address of what it leads to; [Kind] says of what kind
public record Transfer(long address, long end, Kind kind, long target) {
    /// How it leads there.
    public enum Kind {
        /// A call of what is at the target.
        CALL,
        /// A call of what the word at the target leads to.
        CALL_BY_SLOT,
        /// A call of what shows when it is executed: there is no target.
        CALL_INDIRECT,
        /// A jump out of the code to what is at the target.
        JUMP,
        /// A jump to what the word at the target leads to.
        JUMP_BY_SLOT
    }

    /// Whether it returns behind itself.
    public boolean isCall() {
        return kind != Kind.JUMP && kind != Kind.JUMP_BY_SLOT;
    }
}
