package org.mdlagent.arch.x86.find;

import static org.mdlagent.arch.x86.bytes.Encoding.u8;

/// Looks for instructions that change RBX, by their operands (Intel SDM vol. 2, appendix A): where an operand that the
/// instruction may change is RBX, or a part of it. Of instructions that only read it, some are taken for such.
final class FrameRegister {
    /// The processor's number of it, and DWARF's.
    static final int RBX = 3;

    /// As an operand of one byte, without REX.
    private static final int BH = 7;

    private static final int REPEAT = 0xF3;

    private final byte[] code;

    /// Of the instruction: where its ModRM byte is, and what extends its fields.
    private int operands;

    private int rex;
    private boolean repeated;

    private FrameRegister(byte[] code) {
        this.code = code;
    }

    static boolean mayBeChanged(byte[] code, byte[] lengths) {
        FrameRegister search = new FrameRegister(code);
        for (int at = 0; at < code.length && lengths[at] != 0; at += lengths[at]) {
            if (search.mayBeChanged(at, at + lengths[at])) {
                return true;
            }
        }
        return false;
    }

    private boolean mayBeChanged(int at, int end) {
        int op = at;
        rex = 0;
        repeated = false;
        while (op < end - 1 && isPrefix(u8(code, op))) {
            // One that others follow has no effect.
            rex = (u8(code, op) & 0xF0) == 0x40 ? u8(code, op) : 0;
            repeated |= u8(code, op) == REPEAT;
            op++;
        }
        int opcode = u8(code, op);
        operands = Math.min(op + 1, end - 1);
        boolean xop = opcode == 0x8F && (u8(code, operands) & 0x1F) >= 8;
        return switch (xop ? 0xC4 : opcode) {
            case 0x0F -> ofTwoBytes(op + 1, end);
            case 0xC5 -> ofVector(1, u8(code, op + 1) | 0x20, u8(code, op + 1), op + 2, end);
            case 0xC4 -> ofVector(u8(code, op + 1) & 0x1F, u8(code, op + 1), u8(code, op + 2), op + 3, end);
            case 0x62 -> ofVector(u8(code, op + 1) & 7, u8(code, op + 1), u8(code, op + 2), op + 4, end);
            default -> ofOneByte(opcode);
        };
    }

    private static boolean isPrefix(int octet) {
        return switch (octet) {
            case 0x26, 0x2E, 0x36, 0x3E, 0x64, 0x65, 0x66, 0x67, 0xF0, 0xF2, REPEAT -> true;
            default -> (octet & 0xF0) == 0x40;
        };
    }

    private boolean ofOneByte(int opcode) {
        boolean bytes = (opcode & 1) == 0;
        if (opcode < 0x40) {
            return (opcode & 7) < 4 && (isRegister(bytes) || isOperand(bytes));
        }
        return switch (opcode) {
            case 0x63, 0x69, 0x6B -> isRegister(false) || isOperand(false);
            case 0x80, 0x81, 0x82, 0x83, 0xC0, 0xC1, 0xC6, 0xC7, 0xD0, 0xD1, 0xD2, 0xD3, 0xF6, 0xF7, 0xFE, 0xFF ->
                isOperand(bytes);
            case 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8A, 0x8B -> isRegister(bytes) || isOperand(bytes);
            case 0x8C -> isOperand(false);
            case 0x8D -> isRegister(false);
            case 0x8F -> isOperand(false);
            default -> isInOpcode(opcode);
        };
    }

    /// Those that have a register's number in the opcode: `push`, `pop`, `xchg`, `mov`.
    private boolean isInOpcode(int opcode) {
        boolean bytes = opcode >= 0xB0 && opcode < 0xB8;
        boolean has = (opcode & 0xF0) == 0x50 || (opcode & 0xF8) == 0x90 || (opcode & 0xF0) == 0xB0;
        return has && isRbx(opcode & 7 | (rex & 1) << 3, bytes);
    }

    private boolean ofTwoBytes(int op, int end) {
        int opcode = u8(code, op);
        operands = Math.min(op + 1, end - 1);
        boolean bytes = (opcode & 1) == 0;
        if ((opcode & 0xF0) == 0x40) {
            return isRegister(false) || isOperand(false);
        }
        return switch (opcode) {
            case 0x38, 0x3A -> ofThreeBytes(opcode, op + 1, end);
            // `cpuid`
            case 0xA2 -> true;
            case 0xA3, 0xA4, 0xA5, 0xAB, 0xAC, 0xAD, 0xAF, 0xB3, 0xB7, 0xB8, 0xBB, 0xBC, 0xBD, 0xBF ->
                isRegister(false) || isOperand(false);
            case 0xB0, 0xB1, 0xC0, 0xC1 -> isRegister(bytes) || isOperand(bytes);
            case 0xB6, 0xBE -> isRegister(false) || isOperand(true);
            case 0x00, 0x01, 0xBA, 0xC7 -> isOperand(false);
            case 0x1E, 0xAE -> repeated && isOperand(false);
            case 0x02, 0x03, 0xB2, 0xB4, 0xB5, 0x2C, 0x2D, 0x50, 0xC5, 0xD7 -> isRegister(false);
            case 0x7E -> !repeated && isOperand(false);
            default -> {
                boolean sets = (opcode & 0xF0) == 0x90 && isOperand(true);
                yield sets || (opcode & 0xF8) == 0xC8 && isRbx(opcode & 7 | (rex & 1) << 3, false);
            }
        };
    }

    private boolean ofThreeBytes(int map, int op, int end) {
        int opcode = u8(code, op);
        operands = Math.min(op + 1, end - 1);
        return map == 0x38
                ? (opcode == 0xF0 || opcode == 0xF1 || opcode == 0xF6) && (isRegister(false) || isOperand(false))
                : opcode >= 0x14 && opcode <= 0x17 && isOperand(false);
    }

    /// VEX, EVEX, and AMD's XOP, whose maps begin at 8.
    ///
    /// @param first  the byte with the bits that extend ModRM's fields, inverted
    /// @param second the byte with the number of another register, inverted
    private boolean ofVector(int map, int first, int second, int op, int end) {
        rex = (~first >> 7 & 1) << 2 | ~first >> 5 & 1;
        int opcode = u8(code, Math.min(op, end - 1));
        operands = Math.min(op + 1, end - 1);
        boolean another = (~second >> 3 & 0xF) == RBX;
        return switch (map) {
            case 1, 5 ->
                switch (opcode) {
                    case 0x2C, 0x2D, 0x50, 0x78, 0x79, 0x93, 0xC5, 0xD7 -> isRegister(false);
                    case 0x7E -> isOperand(false);
                    default -> false;
                };
            case 2 -> opcode >= 0xF2 && opcode <= 0xF7 && (isRegister(false) || another);
            case 3 -> opcode == 0xF0 && isRegister(false) || opcode >= 0x14 && opcode <= 0x17 && isOperand(false);
            case 9 -> (opcode == 0x01 || opcode == 0x02) && another || opcode == 0x12 && isOperand(false);
            case 10 -> opcode == 0x10 && isRegister(false);
            default -> false;
        };
    }

    /// Whether ModRM's register is it.
    private boolean isRegister(boolean bytes) {
        return isRbx(u8(code, operands) >> 3 & 7 | (rex >> 2 & 1) << 3, bytes);
    }

    /// Whether ModRM's operand is it, not memory.
    private boolean isOperand(boolean bytes) {
        int fields = u8(code, operands);
        return fields >> 6 == 3 && isRbx(fields & 7 | (rex & 1) << 3, bytes);
    }

    private boolean isRbx(int number, boolean bytes) {
        return number == RBX || bytes && rex == 0 && number == BH;
    }
}
