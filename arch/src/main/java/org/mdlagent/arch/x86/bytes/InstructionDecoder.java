package org.mdlagent.arch.x86.bytes;

/// Tells what an instruction is.
public @FunctionalInterface interface InstructionDecoder {
    /// No instruction is longer.
    int LENGTH_MAX = 15;

    /// The instruction at `code[offset]`, as if `code[0]` stood at `address`.
    ///
    /// @throws IllegalArgumentException when there is none, or `code` ends within it
    Instruction decode(byte[] code, int offset, long address);
}
