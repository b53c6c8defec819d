package org.mdlagent.arch.elf;

import org.jspecify.annotations.Nullable;

/// The value of one attribute, read by its form (DWARF 5 section 7.5.6). Reusable.
final class DwarfValue {
    private final ElfFile file;
    private @Nullable Cursor strings;
    private @Nullable Cursor lineStrings;

    /// The value of a number, an offset or a reference; 0 for other forms.
    long number;

    private @Nullable Cursor textIn;
    private long textAt;

    DwarfValue(ElfFile file) {
        this.file = file;
    }

    /// Reads a value.
    ///
    /// @param offsetSize 4 or 8, as the unit's format says
    void read(int form, Cursor in, int offsetSize) throws ElfFormatException {
        number = 0;
        textIn = null;
        switch (form) {
            case 0x08 /* string */ -> {
                textIn = in;
                textAt = in.position();
                in.skipString();
            }
            case 0x0e /* strp */ -> {
                textAt = offset(in, offsetSize);
                textIn = strings();
            }
            case 0x1f /* line_strp */ -> {
                textAt = offset(in, offsetSize);
                textIn = lineStrings();
            }
            case 0x0b /* data1 */, 0x0c /* flag */, 0x11 /* ref1 */, 0x25 /* strx1 */, 0x29 /* addrx1 */ ->
                number = in.u8();
            case 0x05 /* data2 */, 0x12 /* ref2 */, 0x26 /* strx2 */, 0x2a /* addrx2 */ -> number = in.u16();
            case 0x27 /* strx3 */, 0x2b /* addrx3 */ -> number = in.u16() | in.u8() << 16;
            case 0x06 /* data4 */, 0x13 /* ref4 */, 0x1c /* ref_sup4 */, 0x28 /* strx4 */, 0x2c /* addrx4 */ ->
                number = in.u32();
            case 0x01 /* addr */, 0x07 /* data8 */, 0x14 /* ref8 */, 0x20 /* ref_sig8 */, 0x24 /* ref_sup8 */ ->
                number = in.i64();
            case 0x1e /* data16 */ -> in.skip(16);
            case 0x0d /* sdata */ -> number = in.sleb();
            case 0x0f /* udata */,
                    0x15 /* ref_udata */,
                    0x1a /* strx */,
                    0x1b /* addrx */,
                    0x22 /* loclistx */,
                    0x23 /* rnglistx */ -> number = in.uleb();
            case 0x10 /* ref_addr */,
                    0x17 /* sec_offset */,
                    0x1d /* strp_sup */,
                    0x1f20 /* GNU_ref_alt */,
                    0x1f21 /* GNU_strp_alt */ -> number = offset(in, offsetSize);
            case 0x0a /* block1 */ -> in.skip(in.u8());
            case 0x03 /* block2 */ -> in.skip(in.u16());
            case 0x04 /* block4 */ -> in.skip(in.u32());
            case 0x09 /* block */, 0x18 /* exprloc */ -> in.skip(in.uleb());
            case 0x19 /* flag_present */, 0x21 /* implicit_const */ -> {}
            default -> throw in.bad("a known form, not " + form + ",");
        }
    }

    /// Whether the last value is a string that this reader can find.
    boolean hasText() {
        return textIn != null;
    }

    /// The section that holds the last value's text; only if it has one.
    Cursor textIn() {
        Cursor in = textIn;
        if (in == null) {
            throw new IllegalStateException("not a string");
        }
        return in;
    }

    /// The string's offset in that section.
    long textAt() {
        return textAt;
    }

    static long offset(Cursor in, int offsetSize) throws ElfFormatException {
        return offsetSize == 8 ? in.i64() : in.u32();
    }

    private @Nullable Cursor strings() throws ElfFormatException {
        if (strings == null) {
            strings = contents(".debug_str");
        }
        return strings;
    }

    private @Nullable Cursor lineStrings() throws ElfFormatException {
        if (lineStrings == null) {
            lineStrings = contents(".debug_line_str");
        }
        return lineStrings;
    }

    private @Nullable Cursor contents(String section) throws ElfFormatException {
        Section found = file.section(section);
        return found == null ? null : file.contents(found);
    }
}
