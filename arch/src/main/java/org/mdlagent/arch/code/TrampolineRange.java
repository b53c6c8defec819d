package org.mdlagent.arch.code;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.FrameRule;

/// A range of generated code, described for unwinders.
///
/// @param start  address
/// @param length in bytes
/// @param rules  how callers are found from copies of instructions; none for other kinds
/// @param exceptions which exceptions a copy handles, null for none
public record TrampolineRange(
        long start,
        long length,
        Kind kind,
        List<FrameRule> rules,
        @Nullable Exceptions exceptions) {
    /// @param personality address of the routine
    /// @param data        address of the language-specific data
    public record Exceptions(long personality, long data) {}

    public TrampolineRange(long start, long length, Kind kind) {
        this(start, length, kind, List.of(), null);
    }

    /// A copy of instructions from a function's entry.
    ///
    /// @param rules of offsets in the copy
    public static TrampolineRange displaced(long start, long length, List<FrameRule> rules) {
        return new TrampolineRange(start, length, Kind.DISPLACED, rules, null);
    }

    /// The same range, which handles exceptions.
    public TrampolineRange handling(Exceptions handled) {
        return new TrampolineRange(start, length, kind, rules, handled);
    }

    public enum Kind {
        /// [RecordingCode].
        RECORDING,
        /// Adjacent stubs of whole functions.
        FUNCTION_STUBS,
        /// Code that runs after the body of a whole function has returned, with the words of the call on top of
        /// the stack, and never moves the stack pointer.
        IN_CALL,
        /// Code that never moves the stack pointer and keeps every callee-saved register: all other stubs.
        LEAF,
        /// A copy of the first instructions of a function.
        DISPLACED
    }
}
