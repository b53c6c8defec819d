package org.mdlagent.arch.x86.emit;

import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import org.mdlagent.arch.x86.X86InstructionSet;
import org.mdlagent.arch.x86.bytes.Assembler;

/// What the program calls in place of a function of a library, from anywhere.
///
/// | offset | instruction |
/// | --- | --- |
/// | 0 | a NOP of five bytes: the site |
/// | 5 | `jmp *target(%rip)` |
/// | 16 | the target's address |
public final class ImportStub {
    public static final int SIZE = 32;
    public static final int SITE_LENGTH = 5;

    private static final int GROUP_5 = 0xFF;
    private static final int CALL_THROUGH_WORD = 0x15;
    private static final int JUMP_THROUGH_WORD = 0x25;

    /// Bytes of a constant behind a displacement.
    private static final int[] CONSTANTS = {0, 1, 2, 4};

    private ImportStub() {}

    public static byte[] assemble(long at, long target) {
        Assembler out = new Assembler(at);
        Assembler.Label word = new Assembler.Label();
        out.nop(SITE_LENGTH);
        out.jumpThrough(word);
        out.literal(word, target);
        out.align(SIZE);
        return out.toBytes();
    }

    /// Whatever looks like a displacement to a word is taken for one, wherever instructions begin.
    public static Set<Long> loaded(byte[] code, long address, Set<Long> words) {
        Set<Long> loaded = new HashSet<>();
        if (words.isEmpty()) {
            return loaded;
        }
        long lowest = Collections.min(words) - CONSTANTS[CONSTANTS.length - 1];
        long highest = Collections.max(words);
        for (int i = 0; i + Integer.BYTES <= code.length; i++) {
            long target = address + i + Integer.BYTES + X86InstructionSet.i32(code, i);
            if (target >= lowest && target <= highest) {
                for (int constant : CONSTANTS) {
                    if (words.contains(target + constant) && (constant != 0 || !isThrough(code, i))) {
                        loaded.add(target + constant);
                    }
                }
            }
        }
        return loaded;
    }

    /// Whether a displacement is that of a call or a jump.
    private static boolean isThrough(byte[] code, int displacementAt) {
        if (displacementAt < 2 || X86InstructionSet.u8(code, displacementAt - 2) != GROUP_5) {
            return false;
        }
        int operation = X86InstructionSet.u8(code, displacementAt - 1);
        return operation == CALL_THROUGH_WORD || operation == JUMP_THROUGH_WORD;
    }
}
