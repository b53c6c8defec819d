package org.mdlagent.arch.x86.find;

import java.lang.foreign.Arena;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.LengthDecoder;

/// Where instructions begin.
public final class InstructionLengths {
    private InstructionLengths() {}

    /// Of each byte of `code` the length of the instruction that begins there, 0 inside one, and from the first on that
    /// is unknown or not whole.
    public static byte[] of(byte[] code, LengthDecoder decoder) {
        try (Arena arena = Arena.ofConfined()) {
            long copy = arena.allocate(2L * Math.max(1, code.length)).address();
            Memory.put(copy, code);
            long unused = decoder.decode(copy, code.length, copy + code.length);
            return Memory.copy(copy + code.length, code.length);
        }
    }
}
