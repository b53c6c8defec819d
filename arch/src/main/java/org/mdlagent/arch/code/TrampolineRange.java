package org.mdlagent.arch.code;

import java.util.List;
import org.mdlagent.arch.elf.FrameRule;

/// A range of generated code, described for unwinders.
///
/// @param start  address
/// @param length in bytes
/// @param rules  how callers are found from copies of instructions; none for other kinds
public record TrampolineRange(long start, long length, Kind kind, List<FrameRule> rules) {
    public TrampolineRange(long start, long length, Kind kind) {
        this(start, length, kind, List.of());
    }

    /// A copy of instructions from a function's entry.
    ///
    /// @param rules of offsets in the copy
    public static TrampolineRange displaced(long start, long length, List<FrameRule> rules) {
        return new TrampolineRange(start, length, Kind.DISPLACED, rules);
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
