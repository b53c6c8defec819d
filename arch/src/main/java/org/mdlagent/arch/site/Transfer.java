package org.mdlagent.arch.site;

/// An instruction that leads, or may lead, to another function.
///
/// @param address of the instruction
/// @param end     its end: the return address of a call
/// @param target  target address; [Kind] says of what
public record Transfer(long address, long end, Kind kind, long target) {
    /// The kind of a transfer.
    public enum Kind {
        /// A call of the code at the target.
        CALL,
        /// A call through the word at the target.
        CALL_BY_SLOT,
        /// A call whose target is known only at run time.
        CALL_INDIRECT,
        /// A jump out of the code to the target.
        JUMP,
        /// A jump through the word at the target.
        JUMP_BY_SLOT
    }

    /// Whether control returns after it.
    public boolean isCall() {
        return kind != Kind.JUMP && kind != Kind.JUMP_BY_SLOT;
    }
}
