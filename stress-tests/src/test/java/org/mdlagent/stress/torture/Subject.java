package org.mdlagent.stress.torture;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/// The initial instructions at a site, within a function that returns their effect.
///
/// @param body    the instructions
/// @param values  what executing them may return; the first for the first version, the second for the other
/// @param changes what may be patched
record Subject(byte[] body, long[] values, List<Change> changes) {
    private static final HexFormat HEX = HexFormat.of();

    /// xor %ecx,%ecx; xor %edx,%edx; mov $1,%eax
    static final byte[] BEFORE = bytes("31c9" + "31d2" + "b801000000");

    /// xor %ecx,%ecx; xor %edx,%edx; xor %eax,%eax; nop: for what leaves the function
    static final byte[] BEFORE_JUMP = bytes("31c9" + "31d2" + "31c0" + "0f1f00");

    /// shl $32,%rdx; or %rdx,%rcx; mov %rcx,%rax; ret
    static final byte[] AFTER = bytes("48c1e220" + "4809d1" + "4889c8" + "c3");

    /// @param offset from the first instruction
    /// @param length in bytes
    /// @param first  the word there at first, little-endian
    /// @param second the word that it is patched to
    record Change(int offset, int length, long first, long second) {}

    static Subject ofWord(byte[] first, byte[] second, long... values) {
        return new Subject(first, values, List.of(new Change(0, first.length, word(first), word(second))));
    }

    static Subject ofHook(byte[] body) {
        return new Subject(body, new long[] {0, Targets.STUB, Targets.ORIGINAL, Targets.OTHER}, List.of());
    }

    /// Instructions replaced by a jump to a stub that adds 1 to edx.
    static Subject ofEntry(byte[] body, long value) {
        return new Subject(body, new long[] {value, value | 1L << Integer.SIZE}, List.of());
    }

    static byte[] joined(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    static Change change(int offset, String first, String second) {
        return new Change(offset, first.length() / 2, word(bytes(first)), word(bytes(second)));
    }

    static byte[] bytes(String hex) {
        return HEX.parseHex(hex);
    }

    /// An instruction that ends in a 32-bit field.
    static byte[] relative(String opcode, int field) {
        return bytes(opcode + HEX.toHexDigits(Integer.reverseBytes(field)));
    }

    static byte[] transfer(String opcode, long address, long target) {
        return relative(opcode, Math.toIntExact(target - (address + opcode.length() / 2 + Integer.BYTES)));
    }

    /// The prologue of a function that enters at `head`: it has executed the earlier instructions.
    byte[] toHead(int head) {
        if (head == 0) {
            return BEFORE;
        }
        return joined(BEFORE, Arrays.copyOf(body, head), new byte[] {(byte) 0xEB, (byte) head});
    }

    private static long word(byte[] bytes) {
        long word = 0;
        for (int i = bytes.length - 1; i >= 0; i--) {
            word = word << 8 | bytes[i] & 0xFF;
        }
        return word;
    }
}
