package org.mdlagent.arch.x86.bytes;

/// Opcodes and instruction fields used by several packages.
public final class Encoding {
    public static final int CALL = 0xE8;
    public static final int CALL_LENGTH = 5;
    public static final int JUMP = 0xE9;
    public static final int RET = 0xC3;
    public static final int ADDRESS_SIZE_PREFIX = 0x67;
    public static final int BND_PREFIX = 0xF2;

    /// The four bytes of a landing pad for indirect branches.
    public static final int ENDBR64 = 0xFA1E0FF3;

    private Encoding() {}

    /// The displacement from `next`, the address after an instruction, to `target`.
    ///
    /// @throws IllegalArgumentException if it does not fit in 32 bits
    public static int displacement(long next, long target) {
        long displacement = target - next;
        if (displacement != (int) displacement) {
            throw new IllegalArgumentException(
                    "0x" + Long.toHexString(target) + " is out of reach of 0x" + Long.toHexString(next));
        }
        return (int) displacement;
    }

    public static int u8(byte[] code, int at) {
        return code[at] & 0xFF;
    }

    /// Writes a little-endian number.
    public static void putInt(byte[] code, int at, int value) {
        code[at] = (byte) value;
        code[at + 1] = (byte) (value >> 8);
        code[at + 2] = (byte) (value >> 16);
        code[at + 3] = (byte) (value >> 24);
    }

    /// Writes a little-endian number.
    public static void putLong(byte[] code, int at, long value) {
        putInt(code, at, (int) value);
        putInt(code, at + Integer.BYTES, (int) (value >> Integer.SIZE));
    }

    public static int i32(byte[] code, int at) {
        return u8(code, at) | u8(code, at + 1) << 8 | u8(code, at + 2) << 16 | code[at + 3] << 24;
    }
}
