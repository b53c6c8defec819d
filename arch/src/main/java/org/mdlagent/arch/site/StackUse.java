package org.mdlagent.arch.site;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a piece of code does with the stack above its own frame: with its arguments there, and with its return address.
///
/// @param reason what it does, or may do; null when it is proved that its own instructions do nothing
/// @param at     offset of the instruction that shows it
/// @param exits  where it jumps out
public record StackUse(@Nullable Reason reason, int at, List<Exit> exits) {
    public StackUse {
        exits = List.copyOf(exits);
    }

    /// A jump out of the code: to a sibling, which finds the stack as the code found it, or to another part of the same
    /// function.
    ///
    /// @param register DWARF's number of what the CFA is relative to there, -1 when that is not known
    /// @param offset   CFA minus that register
    public record Exit(long target, Way way, int register, int offset) {}

    /// How it leads to an exit's target.
    public enum Way {
        /// A branch.
        JUMP,
        /// The code ends, and goes on with what is behind it.
        FALL,
        /// A jump to where the word at the target leads.
        SLOT,
        /// A jump through a table. Of one whose length is not certain, entries may be told that are none.
        TABLE
    }

    /// Memory of the image that nobody writes to.
    public interface Constants {
        /// Stands for what is not known.
        long UNKNOWN = Long.MIN_VALUE;

        /// The four bytes at an address, as a number with a sign.
        long number(long address);

        /// The address that a word holds, at link time.
        long word(long address);
    }

    /// Why it is not proved that words which are put between a function's return address and its frame do no harm.
    public enum Reason {
        /// An operand at or above the CFA.
        TAKES("it takes arguments from the stack"),
        /// The address of what is above the CFA: realigned frames and `va_list` begin so.
        ADDRESS("it takes the address of its arguments on the stack"),
        VARIADIC("it takes a variable number of arguments"),
        RETURN_ADDRESS("it looks at its return address"),
        /// `ret N`, as in conventions where the callee drops its arguments.
        DROPS("it drops its arguments when it returns"),
        COPIES_STACK_POINTER("it copies the stack pointer at its entry"),
        COPIES_FRAME_POINTER("it copies its frame pointer"),
        CHANGES_STACK("it changes to another stack"),
        INDIRECT("it may leave by a jump to what shows when it is executed"),
        /// A jump to code that is not known, or into the middle of a function.
        STRANGE_JUMP("it jumps to what is not known as a function"),
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

        /// For people: goes on from a function's name.
        public String text() {
            return text;
        }
    }
}
