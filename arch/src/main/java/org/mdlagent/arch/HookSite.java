package org.mdlagent.arch;

/// An instruction that transfers control to an instrumentation hook: a patch site.
///
/// @param address  of the instruction, in memory
/// @param form     how it transfers
/// @param role     what its trampoline sees of the call
/// @param function address of the function that the hook is told of, 0 where the code does not show it
public record HookSite(long address, Form form, Role role, long function) {
    /// What is seen of a call of the function.
    public enum Role {
        /// It begins, at an instruction in the body.
        ENTRY,
        /// It ends, at an instruction in the body.
        EXIT,
        /// All of it, for the site is where the function starts: its trampoline calls the body.
        WHOLE,
        /// That it took place.
        COUNT
    }

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
