package org.mdlagent.arch.x86.find;

import static org.mdlagent.arch.x86.bytes.Encoding.i32;
import static org.mdlagent.arch.x86.bytes.Encoding.u8;

import java.util.Collections;
import java.util.HashSet;
import java.util.Set;

/// Finds words that code reads RIP-relative, except by calls and jumps through them. Matches displacements at any
/// byte, so there may be false positives.
final class LoadedWords {
    private static final int GROUP_5 = 0xFF;
    private static final int CALL_THROUGH_WORD = 0x15;
    private static final int JUMP_THROUGH_WORD = 0x25;

    /// Bytes of an immediate after a displacement.
    private static final int[] CONSTANTS = {0, 1, 2, 4};

    private LoadedWords() {}

    static Set<Long> find(byte[] code, long address, Set<Long> words) {
        Set<Long> loaded = new HashSet<>();
        if (words.isEmpty()) {
            return loaded;
        }
        long lowest = Collections.min(words) - CONSTANTS[CONSTANTS.length - 1];
        long highest = Collections.max(words);
        for (int i = 0; i + Integer.BYTES <= code.length; i++) {
            long target = address + i + Integer.BYTES + i32(code, i);
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

    /// Whether a displacement belongs to a call or a jump.
    private static boolean isThrough(byte[] code, int displacementAt) {
        if (displacementAt < 2 || u8(code, displacementAt - 2) != GROUP_5) {
            return false;
        }
        int operation = u8(code, displacementAt - 1);
        return operation == CALL_THROUGH_WORD || operation == JUMP_THROUGH_WORD;
    }
}
