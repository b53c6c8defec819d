package org.mdlagent.arch.x86.bytes;

import java.util.ArrayList;
import java.util.List;

/// Decodes instructions.
@FunctionalInterface
public interface InstructionDecoder {
    /// Maximum length of an instruction.
    int LENGTH_MAX = 15;

    /// The instruction at `code[offset]`, if `code[0]` is at `address`.
    ///
    /// @throws IllegalArgumentException if it is invalid, or `code` ends within it
    Instruction decode(byte[] code, int offset, long address);

    /// The instructions of `code` at `address`.
    ///
    /// @throws IllegalArgumentException if `code` does not consist of whole instructions
    default List<Instruction> decodeAll(byte[] code, long address) {
        List<Instruction> all = new ArrayList<>();
        for (int at = 0; at < code.length; at += all.getLast().length()) {
            all.add(decode(code, at, address));
        }
        return all;
    }
}
