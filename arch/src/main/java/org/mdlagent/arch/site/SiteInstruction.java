package org.mdlagent.arch.site;

/// A patch site: an instruction that transfers control to an instrumentation hook, or a compiler-made placeholder
/// for one.
///
/// @param address  of the first byte, in memory
/// @param form     form of the instruction
/// @param length   in bytes; the function continues after them
/// @param role     the part of the call that its trampoline sees
/// @param function address of the function passed to the hook, 0 if the code does not show it
public record SiteInstruction(long address, Form form, int length, Role role, long function) {
    /// A transfer, whose form determines its length.
    ///
    /// @throws IllegalArgumentException if it does not
    public SiteInstruction(long address, Form form, Role role, long function) {
        this(address, form, form.length(), role, function);
    }

    /// Whether the site counts and jumps to its stub, at a function's first instruction. Other counting sites call
    /// the stub.
    public boolean countsByJump() {
        return role.counts()
                && switch (form) {
                    case INSTRUCTIONS, SKIP, NOP_RUN, NOP_SHORT -> true;
                    case NOP -> length != Form.JUMP.length();
                    case CALL, CALL_PADDED, CALL_INDIRECT, JUMP, JUMP_INDIRECT -> false;
                };
    }

    /// The part of a call that the site sees.
    public enum Role {
        /// Its entry, at an instruction in the body.
        ENTRY,
        /// Its exit, at an instruction in the body.
        EXIT,
        /// The whole call: the site is at the function's start, and its trampoline calls the body.
        FUNCTION,
        /// Only its occurrence.
        COUNT,
        /// The same on a stack that may be too small for more: there are no other users.
        COUNT_ALONE;

        /// Whether only the occurrence of calls is seen.
        public boolean counts() {
            return this == COUNT || this == COUNT_ALONE;
        }
    }

    /// The form of a site.
    public enum Form {
        /// A call with a displacement.
        CALL,
        /// A call with a displacement and a one-byte prefix: a call through the GOT that the linker has relaxed.
        CALL_PADDED,
        /// A call through a GOT slot (`-fno-plt`).
        CALL_INDIRECT,
        /// A sibling call: a jump with a displacement.
        JUMP,
        /// A sibling call through a GOT slot.
        JUMP_INDIRECT,
        /// One NOP with room for a jump.
        NOP,
        /// One-byte NOPs that together have room for a jump.
        NOP_RUN,
        /// A two-byte NOP, with room for a jump before the function.
        NOP_SHORT,
        /// A short jump over the rest of the site, which has room for a long one (XRay).
        SKIP,
        /// The first instructions of a function without compiler support.
        INSTRUCTIONS;

        private int length() {
            return switch (this) {
                case CALL, JUMP -> 5;
                case CALL_PADDED, CALL_INDIRECT, JUMP_INDIRECT -> 6;
                case NOP, NOP_RUN, NOP_SHORT, SKIP, INSTRUCTIONS ->
                    throw new IllegalArgumentException(this + " has many lengths");
            };
        }
    }
}
