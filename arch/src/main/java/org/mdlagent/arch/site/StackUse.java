package org.mdlagent.arch.site;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// How a piece of code uses the stack above its own frame: its stack arguments and its return address.
///
/// @param reason what it does, or may do; null if its own instructions provably do nothing
/// @param at     offset of the instruction that shows it
/// @param exits  where it jumps out
public record StackUse(@Nullable Reason reason, int at, List<Exit> exits) {
    public StackUse {
        exits = List.copyOf(exits);
    }

    /// A jump out of the code: to a sibling, with the stack as at entry, or to another part of the same function.
    ///
    /// @param register DWARF number of the CFA's register there, -1 if unknown
    /// @param offset   CFA minus that register
    public record Exit(long target, Way way, int register, int offset) {
        // Written out: the compiler's links method handles, which costs milliseconds at each start.
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Exit exit
                    && target == exit.target
                    && way == exit.way
                    && register == exit.register
                    && offset == exit.offset;
        }

        @Override
        public int hashCode() {
            return 31 * (31 * (31 * Long.hashCode(target) + way.ordinal()) + register) + offset;
        }
    }

    /// The kind of an exit.
    public enum Way {
        /// A branch.
        JUMP,
        /// The code ends and falls through.
        FALL,
        /// A jump through the word at the target.
        SLOT,
        /// A jump through a table. If its length is uncertain, false entries may be reported.
        TABLE
    }

    /// Read-only memory of the image.
    public interface Constants {
        /// Unknown value.
        long UNKNOWN = Long.MIN_VALUE;

        /// The four bytes at an address, sign-extended.
        long number(long address);

        /// The address in a word, at link time.
        long word(long address);
    }

    /// Why words between a function's return address and its frame are not proved harmless.
    public enum Reason {
        /// An operand at or above the CFA.
        TAKES("it takes arguments from the stack"),
        /// An address above the CFA is taken: realigned frames and `va_list` begin so.
        ADDRESS("it takes the address of its arguments on the stack"),
        VARIADIC("it takes a variable number of arguments"),
        RETURN_ADDRESS("it looks at its return address"),
        /// `ret N`, as in conventions where the callee drops its arguments.
        DROPS("it drops its arguments when it returns"),
        COPIES_STACK_POINTER("it copies the stack pointer at its entry"),
        COPIES_FRAME_POINTER("it copies its frame pointer"),
        CHANGES_STACK("it changes to another stack"),
        INDIRECT("it may leave by an indirect jump"),
        /// A jump to unknown code, or into the middle of a function.
        STRANGE_JUMP("it jumps to an unknown function"),
        SIBLING("it leaves by a jump to a function that is not proved"),
        /// The same, in another image.
        ELSEWHERE("it leaves by a jump to a function of another library that is not proved"),
        UNWIND_TABLE("its unwind table does not say where its arguments are"),
        DIFFERS("its unwind table and its instructions do not agree"),
        UNDECODABLE("its instructions cannot be decoded");

        private final String text;

        Reason(String text) {
            this.text = text;
        }

        /// For users: continues a sentence after the function's name.
        public String text() {
            return text;
        }
    }
}
