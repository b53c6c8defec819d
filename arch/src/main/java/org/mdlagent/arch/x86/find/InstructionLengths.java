package org.mdlagent.arch.x86.find;

import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeBuffer;
import org.mdlagent.arch.shim.Scratch;
import org.mdlagent.arch.site.LengthDecoder;

/// Instruction boundaries.
public final class InstructionLengths {
    private InstructionLengths() {}

    /// For each byte of `code`, the length of the instruction that begins there; 0 inside an instruction, and from
    /// the first unknown or incomplete one on.
    public static byte[] of(byte[] code, LengthDecoder decoder) {
        if (2 * code.length <= Scratch.BYTES) {
            return of(code, decoder, Scratch.address());
        }
        try (NativeBuffer copy = NativeBuffer.of(2L * code.length)) {
            return of(code, decoder, copy.address());
        }
    }

    /// @param copy address of a buffer for the code and as many lengths
    private static byte[] of(byte[] code, LengthDecoder decoder, long copy) {
        Memory.put(copy, code);
        long unused = decoder.decode(copy, code.length, copy + code.length);
        return Memory.copy(copy + code.length, code.length);
    }
}
