package org.mdlagent.arch.site;

/// A patch site: an instruction that transfers control to an instrumentation hook, or what a compiler has left where
/// one could stand.
///
/// @param address  of the first byte, in memory
/// @param form     what is there
/// @param length   in bytes; behind them the function goes on
/// @param role     what its trampoline sees of the call
/// @param function address of the function that the hook is told of, 0 where the code does not show it
public record SiteInstruction(long address, Form form, int length, Role role, long function) {
    /// A transfer, whose form says how long it is.
    ///
    /// @throws IllegalArgumentException when it does not
    public SiteInstruction(long address, Form form, Role role, long function) {
        this(address, form, form.length(), role, function);
    }

    /// Whether the site is one that counts and jumps to its stub, at a function's first instruction. Others that count
    /// call it.
    public boolean countsByJump() {
        return role.counts()
                && switch (form) {
                    case INSTRUCTIONS, SKIP, NOP_RUN, NOP_SHORT -> true;
                    case NOP -> length != Form.JUMP.length();
                    case CALL, CALL_PADDED, CALL_INDIRECT, JUMP, JUMP_INDIRECT -> false;
                };
    }

    /// What is seen of a call of the function.
    public enum Role {
        /// It begins, at an instruction in the body.
        ENTRY,
        /// It ends, at an instruction in the body.
        EXIT,
        /// All of it, for the site is where the function starts: its trampoline calls the body.
        FUNCTION,
        /// That it took place.
        COUNT,
        /// The same, where the stack may have no room for more than that: nobody else is told.
        COUNT_ALONE;

        /// Whether nothing but the call's having taken place is seen.
        public boolean counts() {
            return this == COUNT || this == COUNT_ALONE;
        }
    }

    /// What is at a site.
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
        JUMP_INDIRECT,
        /// One instruction that does nothing and has room for a jump.
        NOP,
        /// Instructions of one byte that do nothing, together with room for a jump.
        NOP_RUN,
        /// Two bytes that do nothing, with room for a jump in front of the function.
        NOP_SHORT,
        /// A short jump over the rest of the site, which has room for a long one (XRay).
        SKIP,
        /// The first instructions of a function that no compiler has prepared.
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
