package org.mdlagent.arch;

/// An instruction that transfers control to an instrumentation hook: a patch site.
///
/// @param address  of the instruction, in memory
/// @param form     how it transfers
/// @param exit     whether the hook is the one of function exits
/// @param function address of the function that the hook is told of, 0 where the code does not show it
public record HookSite(long address, Form form, boolean exit, long function) {
    /// How control is transferred.
    public enum Form {
        /// A call with a displacement.
        CALL,
        /// A call with a displacement and one byte of prefix: what a linker makes of a call through the GOT.
        CALL_PADDED,
        /// A call through a GOT slot (`-fno-plt`).
        CALL_INDIRECT,
        /// A sibling call: a jump with a displacement.
        JUMP,
        /// A sibling call through a GOT slot.
        JUMP_INDIRECT
    }
}
