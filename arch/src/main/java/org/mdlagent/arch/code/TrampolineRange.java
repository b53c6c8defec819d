package org.mdlagent.arch.code;

/// Generated code, as far as unwinders must know it.
///
/// @param start  address
/// @param length in bytes
public record TrampolineRange(long start, long length, Kind kind) {
    public enum Kind {
        /// [RecordingCode].
        RECORDING,
        /// Stubs of whole functions, one behind the other.
        FUNCTION_STUBS,
        /// Code that runs when the body of a whole function has returned, and never moves the stack pointer.
        FRAMED,
        /// Code that never moves the stack pointer and keeps every callee-saved register: all other stubs.
        LEAF
    }
}
