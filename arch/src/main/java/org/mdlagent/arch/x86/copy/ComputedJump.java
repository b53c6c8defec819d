package org.mdlagent.arch.x86.copy;

import java.util.Arrays;

/// `jmp *operand`.
///
/// @param register that it jumps through, or -1
/// @param index    of a memory operand, or -1
record ComputedJump(byte[] code, int opcode, int rex, int register, int index) {
    private static final int GROUP = 0xFF;

    /// Offset of the opcode, -1 if it is another instruction.
    static int opcodeAt(byte[] code) {
        int at = 0;
        while (at < code.length - 1 && isPrefix(code[at] & 0xFF)) {
            at++;
        }
        boolean jumps = at < code.length - 1 && (code[at] & 0xFF) == GROUP && (code[at + 1] >> 3 & 6) == 4;
        return jumps ? at : -1;
    }

    private static boolean isPrefix(int octet) {
        return (octet & 0xF0) == 0x40
                || octet >= 0x64 && octet <= 0x67
                || octet == 0x3E
                || octet == 0x2E
                || octet == 0x26
                || octet == 0x36
                || octet == 0xF2
                || octet == 0xF3;
    }

    /// @throws IllegalArgumentException if it is a far jump, or has a prefix that no compiler emits
    static ComputedJump of(byte[] code) {
        int opcode = opcodeAt(code);
        int rex = 0;
        for (int i = 0; i < opcode; i++) {
            int octet = code[i] & 0xFF;
            boolean known = octet == 0x3E || octet == 0xF2 || (octet & 0xF0) == 0x40 && i == opcode - 1;
            if (!known) {
                throw new IllegalArgumentException("a computed jump has an unusual prefix");
            }
            rex = (octet & 0xF0) == 0x40 ? octet : 0;
        }
        int fields = code[opcode + 1];
        if ((fields >> 3 & 7) != 4) {
            throw new IllegalArgumentException("a far jump");
        }
        boolean direct = (fields & 0xC0) == 0xC0;
        boolean scaled = !direct && (fields & 7) == 4 && (code[opcode + 2] >> 3 & 7 | (rex & 2) << 2) != 4;
        return new ComputedJump(
                code,
                opcode,
                rex,
                direct ? fields & 7 | (rex & 1) << 3 : -1,
                scaled ? code[opcode + 2] >> 3 & 7 | (rex & 2) << 2 : -1);
    }

    /// `mov operand,%to`.
    byte[] load(int to) {
        byte[] rest = Arrays.copyOfRange(code, opcode, code.length);
        byte[] load = new byte[rest.length + 1];
        load[0] = (byte) (0x48 | rex & 3 | (to & 8) >> 1);
        load[1] = (byte) 0x8B;
        load[2] = (byte) (rest[1] & 0xC7 | (to & 7) << 3);
        System.arraycopy(rest, 2, load, 3, rest.length - 2);
        return load;
    }
}
