package org.mdlagent.arch.x86.find;

import static org.mdlagent.arch.x86.bytes.Encoding.i32;
import static org.mdlagent.arch.x86.bytes.Encoding.u8;

/// The opcode, registers and memory operand of an instruction of known length (Intel SDM vol. 2, chapter 2).
/// Reusable.
final class Operands {
    static final int NONE = -1;

    /// Opcode maps: one byte, `0F`, `0F 38`, `0F 3A`; XOP's and others are not needed.
    static final int ONE_BYTE = 0;

    static final int TWO_BYTES = 1;

    private static final int SEGMENTS = 0x64;

    private final byte[] code;

    int map;
    int opcode;

    /// Whether it is encoded with VEX, EVEX or XOP; then [#another] is a further register.
    boolean vector;

    int another;
    boolean wide;
    boolean operandSize;
    boolean repeated;

    /// Whether it has the prefix `3E`: for an indirect jump, that its target is no landing pad.
    boolean notrack;

    /// Offset in the code of the byte after the opcode.
    int behindOpcode;

    boolean hasModRm;
    int mod;

    /// ModRM's register, or operation.
    int reg;

    /// ModRM's operand if it is a register, else [#NONE].
    int rm;

    /// Of the memory operand; [#NONE] for none.
    int base;

    int index;
    int scale;

    /// The displacement; an upper bound if it is compressed.
    int displacement;

    /// Whether the memory operand is RIP-relative.
    boolean relative;

    private int vectorBytes;
    private int rex;

    Operands(byte[] code) {
        this.code = code;
    }

    /// Reads the instruction in `[at, end)`.
    void read(int at, int end) {
        int op = prefixes(at, end);
        opcode = u8(code, op);
        map = ONE_BYTE;
        vector = false;
        another = NONE;
        vectorBytes = 1;
        if (opcode == 0xC5 && end - op > 2) {
            vector(u8(code, op + 1) | 0x60, TWO_BYTES, u8(code, op + 1), op + 2);
        } else if ((opcode == 0xC4 || opcode == 0x8F && (u8(code, op + 1) & 0x1F) >= 8) && end - op > 3) {
            vector(u8(code, op + 1), u8(code, op + 1) & 0x1F, u8(code, op + 2), op + 3);
        } else if (opcode == 0x62 && end - op > 4) {
            // Assume the longest vector as the unit of a compressed displacement.
            vectorBytes = 16 << Math.min(2, u8(code, op + 3) >> 5 & 3);
            vector(u8(code, op + 1), u8(code, op + 1) & 7, u8(code, op + 2), op + 4);
        } else if (opcode == 0x0F) {
            twoBytes(op + 1);
        } else {
            behindOpcode = op + 1;
        }
        modRm(end);
    }

    private int prefixes(int at, int end) {
        int op = at;
        rex = 0;
        operandSize = false;
        repeated = false;
        notrack = false;
        for (; op < end - 1; op++) {
            int octet = u8(code, op);
            if ((octet & 0xF0) == 0x40) {
                rex = octet;
                continue;
            }
            boolean known = octet == 0x26
                    || octet == 0x2E
                    || octet == 0x36
                    || octet == 0x3E
                    || octet >= SEGMENTS && octet <= 0x67
                    || octet == 0xF0
                    || octet == 0xF2
                    || octet == 0xF3;
            if (!known) {
                break;
            }
            // A REX followed by other prefixes has no effect.
            rex = 0;
            operandSize |= octet == 0x66;
            repeated |= octet == 0xF3;
            notrack |= octet == 0x3E;
        }
        wide = (rex & 8) != 0;
        return op;
    }

    private void twoBytes(int op) {
        map = TWO_BYTES;
        opcode = u8(code, op);
        behindOpcode = op + 1;
        if (opcode == 0x38 || opcode == 0x3A) {
            map = opcode == 0x38 ? 2 : 3;
            opcode = u8(code, op + 1);
            behindOpcode = op + 2;
        }
    }

    /// @param first  the byte with the bits that extend ModRM's fields, inverted
    /// @param second the byte with the width and the number of another register, inverted
    private void vector(int first, int opcodeMap, int second, int op) {
        vector = true;
        map = opcodeMap;
        rex = (~first >> 7 & 1) << 2 | (~first >> 6 & 1) << 1 | ~first >> 5 & 1;
        another = ~second >> 3 & 0xF;
        opcode = u8(code, op);
        behindOpcode = op + 1;
    }

    private void modRm(int end) {
        hasModRm = behindOpcode < end && (vector ? opcode != 0x77 || map != TWO_BYTES : hasModRm(map, opcode));
        mod = 3;
        reg = NONE;
        rm = NONE;
        base = NONE;
        index = NONE;
        scale = 1;
        displacement = 0;
        relative = false;
        if (!hasModRm) {
            return;
        }
        int fields = u8(code, behindOpcode);
        mod = fields >> 6;
        reg = fields >> 3 & 7 | (rex & 4) << 1;
        int low = fields & 7;
        if (mod == 3) {
            rm = low | (rex & 1) << 3;
            return;
        }
        int at = behindOpcode + 1;
        boolean longDisplacement = mod == 2;
        if (low == 4) {
            int sib = u8(code, at++);
            index = sib >> 3 & 7 | (rex & 2) << 2;
            index = index == 4 ? NONE : index;
            scale = 1 << (sib >> 6);
            if ((sib & 7) == 5 && mod == 0) {
                longDisplacement = true;
            } else {
                base = sib & 7 | (rex & 1) << 3;
            }
        } else if (low == 5 && mod == 0) {
            relative = true;
            longDisplacement = true;
        } else {
            base = low | (rex & 1) << 3;
        }
        if (longDisplacement) {
            displacement = i32(code, at);
        } else if (mod == 1) {
            displacement = code[at] > 0 ? code[at] * vectorBytes : code[at];
        }
    }

    private static boolean hasModRm(int map, int opcode) {
        return switch (map) {
            case ONE_BYTE ->
                opcode < 0x40 && (opcode & 7) < 4
                        || opcode == 0x63
                        || opcode == 0x69
                        || opcode == 0x6B
                        || opcode >= 0x80 && opcode <= 0x8F
                        || opcode == 0xC0
                        || opcode == 0xC1
                        || opcode == 0xC6
                        || opcode == 0xC7
                        || opcode >= 0xD0 && opcode <= 0xD3
                        || opcode >= 0xD8 && opcode <= 0xDF
                        || opcode == 0xF6
                        || opcode == 0xF7
                        || opcode == 0xFE
                        || opcode == 0xFF;
            case TWO_BYTES ->
                switch (opcode) {
                    case 0x05, 0x06, 0x07, 0x08, 0x09, 0x0B, 0x0E, 0x77, 0xA0, 0xA1, 0xA2, 0xA8, 0xA9, 0xAA -> false;
                    default ->
                        !(opcode >= 0x30 && opcode <= 0x37
                                || opcode >= 0x80 && opcode <= 0x8F
                                || opcode >= 0xC8 && opcode <= 0xCF);
                };
            default -> true;
        };
    }

    /// A general register that the instruction changes, or [#NONE]; of several, ModRM's operand.
    int changed() {
        int number = changedByNumber();
        // `ah` to `bh` have the numbers of RSP to RDI.
        return number >= 4 && number < 8 && rex == 0 && !vector && isOfBytes() ? number - 4 : number;
    }

    private boolean isOfBytes() {
        if (map == TWO_BYTES) {
            return (opcode & 0xF0) == 0x90 || opcode == 0xB0 || opcode == 0xC0;
        }
        return switch (opcode) {
            case 0x80, 0x86, 0x88, 0x8A, 0xC0, 0xC6, 0xD0, 0xD2, 0xF6, 0xFE -> true;
            default -> opcode < 0x40 && (opcode & 1) == 0 || (opcode & 0xF8) == 0xB0;
        };
    }

    private int changedByNumber() {
        if (vector) {
            boolean general = map == 2 && opcode >= 0xF2 && opcode <= 0xF7 || map == 3 && opcode == 0xF0;
            return !general ? toGeneral() : map == 2 && opcode == 0xF3 ? another : reg;
        }
        return switch (map) {
            case ONE_BYTE -> changedByOne();
            case TWO_BYTES -> changedByTwo();
            case 2 -> opcode == 0xF0 || opcode == 0xF1 || opcode == 0xF6 ? reg : NONE;
            default -> rm;
        };
    }

    private int toGeneral() {
        return switch (opcode) {
            case 0x2C, 0x2D, 0x50, 0xC5, 0xD7 -> reg;
            case 0x7E -> rm;
            default -> NONE;
        };
    }

    private int changedByOne() {
        if (opcode < 0x40) {
            boolean compares = opcode >= 0x38;
            return compares
                    ? NONE
                    : switch (opcode & 7) {
                        case 0, 1 -> rm;
                        case 2, 3 -> reg;
                        case 4, 5 -> 0;
                        default -> NONE;
                    };
        }
        return switch (opcode) {
            case 0x63, 0x69, 0x6B, 0x8A, 0x8B, 0x8D -> reg;
            case 0x80, 0x81, 0x83 -> (reg & 7) == 7 ? NONE : rm;
            case 0x86, 0x87, 0x88, 0x89, 0x8C, 0x8F, 0xC0, 0xC1, 0xC6, 0xC7, 0xD0, 0xD1, 0xD2, 0xD3 -> rm;
            case 0xF6, 0xF7 -> (reg & 7) == 2 || (reg & 7) == 3 ? rm : NONE;
            case 0xFE, 0xFF -> (reg & 7) < 2 ? rm : NONE;
            case 0x98 -> 0;
            case 0x99 -> 2;
            default -> {
                boolean has = opcode >= 0x58 && opcode < 0x60
                        || opcode > 0x90 && opcode < 0x98
                        || opcode >= 0xB0 && opcode < 0xC0;
                yield has ? inOpcode() : NONE;
            }
        };
    }

    private int changedByTwo() {
        if ((opcode & 0xF0) == 0x40) {
            return reg;
        }
        return switch (opcode) {
            case 0xAF, 0xB6, 0xB7, 0xB8, 0xBC, 0xBD, 0xBE, 0xBF, 0x2C, 0x2D, 0x50, 0xC5, 0xD7, 0x02, 0x03 -> reg;
            case 0x7E -> repeated ? NONE : rm;
            case 0xC0, 0xC1, 0xB0, 0xB1, 0xA4, 0xA5, 0xAB, 0xAC, 0xAD, 0xB3, 0xBB, 0xBA, 0xC7, 0x1E -> rm;
            default -> (opcode & 0xF0) == 0x90 ? rm : (opcode & 0xF8) == 0xC8 ? inOpcode() : NONE;
        };
    }

    /// The register in the opcode.
    int inOpcode() {
        return opcode & 7 | (rex & 1) << 3;
    }

    /// The immediate of one or four bytes after the operand.
    int immediate(int end) {
        boolean small = opcode == 0x83 || opcode == 0x6A;
        return small ? code[end - 1] : i32(code, end - Integer.BYTES);
    }

    /// The one-byte immediate.
    int immediateByte(int end) {
        return code[end - 1];
    }
}
