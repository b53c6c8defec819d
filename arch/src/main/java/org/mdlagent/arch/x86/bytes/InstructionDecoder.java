package org.mdlagent.arch.x86.bytes;

import java.util.ArrayList;
import java.util.List;

/// Tells what an instruction is.
@FunctionalInterface
public interface InstructionDecoder {
    /// No instruction is longer.
    int LENGTH_MAX = 15;

    /// The instruction at `code[offset]`, as if `code[0]` stood at `address`.
    ///
    /// @throws IllegalArgumentException when there is none, or `code` ends within it
    Instruction decode(byte[] code, int offset, long address);

    /// The instructions that `code` consists of, as if it stood at `address`.
    ///
    /// @throws IllegalArgumentException when there are others than whole ones
    default List<Instruction> decodeAll(byte[] code, long address) {
        List<Instruction> all = new ArrayList<>();
        for (int at = 0; at < code.length; at += all.getLast().length()) {
            all.add(decode(code, at, address));
        }
        return all;
    }
}
