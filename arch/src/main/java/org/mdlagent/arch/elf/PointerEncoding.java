package org.mdlagent.arch.elf;

/// How pointers are stored in exception frames (LSB core, "DWARF Exception Header Encoding").
final class PointerEncoding {
    static final int ABSOLUTE = 0;

    private static final int FORMAT = 0x0f;
    private static final int ULEB128 = 0x01;
    private static final int UDATA2 = 0x02;
    private static final int UDATA4 = 0x03;
    private static final int UDATA8 = 0x04;
    private static final int SLEB128 = 0x09;
    private static final int SDATA2 = 0x0a;
    private static final int SDATA4 = 0x0b;
    private static final int SDATA8 = 0x0c;

    private static final int APPLICATION = 0x70;
    private static final int PC_RELATIVE = 0x10;
    private static final int DATA_RELATIVE = 0x30;
    private static final int ALIGNED = 0x50;
    private static final int INDIRECT = 0x80;
    private static final int OMITTED = 0xff;

    private PointerEncoding() {}

    /// @param part virtual address of the first byte that the cursor can reach
    /// @param data what data-relative pointers are relative to
    record Bases(long part, long data) {}

    static long read(int encoding, Cursor at, Bases bases) throws ElfFormatException {
        long base = switch (encoding & (APPLICATION | INDIRECT)) {
            case ABSOLUTE -> 0;
            case PC_RELATIVE -> bases.part + at.position();
            case DATA_RELATIVE -> bases.data;
            default -> throw at.bad("a supported pointer encoding, not " + encoding + ",");
        };
        return base + readSize(encoding, at);
    }

    static boolean isIndirect(int encoding) {
        return (encoding & INDIRECT) != 0;
    }

    /// As [#read]; of an indirect pointer, the place of the word that holds it. 0 if that is not known.
    static long readPlace(int encoding, Cursor at, Bases bases) throws ElfFormatException {
        int direct = encoding & ~INDIRECT;
        if (encoding == OMITTED || (direct & APPLICATION) != 0 && (direct & APPLICATION) != PC_RELATIVE) {
            skip(encoding, at);
            return 0;
        }
        return read(direct, at, bases);
    }

    /// A size is encoded like a pointer, but is not relative.
    static long readSize(int encoding, Cursor at) throws ElfFormatException {
        return switch (encoding & FORMAT) {
            case ABSOLUTE, UDATA8, SDATA8 -> at.i64();
            case ULEB128 -> at.uleb();
            case UDATA2 -> at.u16();
            case UDATA4 -> at.u32();
            case SLEB128 -> at.sleb();
            case SDATA2 -> (short) at.u16();
            case SDATA4 -> at.i32();
            default -> throw at.bad("a supported pointer encoding, not " + encoding + ",");
        };
    }

    /// Skips a pointer whose value does not matter.
    static void skip(int encoding, Cursor at) throws ElfFormatException {
        if (encoding == OMITTED) {
            return;
        }
        if ((encoding & APPLICATION) == ALIGNED) {
            throw at.bad("a supported pointer encoding, not " + encoding + ",");
        }
        readSize(encoding, at);
    }
}
