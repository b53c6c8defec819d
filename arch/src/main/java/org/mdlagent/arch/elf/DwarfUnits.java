package org.mdlagent.arch.elf;

/// Iterates over the units of a DWARF section; each begins with its length (DWARF 5 section 7.2.2).
final class DwarfUnits {
    private static final long ESCAPE_64 = 0xffff_ffffL;
    private static final int LENGTH_SIZE = 4;
    private static final int LONG_LENGTH_SIZE = 12;

    private final SectionParts section;
    private final long bodyMax;
    private long start;
    private long next;
    private Cursor body;
    private int offsetSize;

    /// @param bodyMax maximum bytes of each unit to read
    DwarfUnits(SectionParts section, long bodyMax) throws ElfFormatException {
        this.section = section;
        this.bodyMax = bodyMax;
        this.body = section.part(0, 0);
    }

    /// Moves to the next unit, if there is one.
    boolean next() throws ElfFormatException {
        if (section.size() - next < LENGTH_SIZE) {
            return false;
        }
        start = next;
        Cursor head = section.part(start, Math.min(LONG_LENGTH_SIZE, section.size() - start));
        long length = head.u32();
        long bodyAt = start + LENGTH_SIZE;
        offsetSize = 4;
        if (length == ESCAPE_64) {
            length = head.i64();
            bodyAt = start + LONG_LENGTH_SIZE;
            offsetSize = 8;
        }
        if (length < 0 || length > section.size() - bodyAt) {
            throw head.bad("a unit that ends inside the section");
        }
        next = bodyAt + length;
        body = section.part(bodyAt, Math.min(length, bodyMax));
        return true;
    }

    /// Offset of the unit in its section.
    long start() {
        return start;
    }

    /// The unit's content after its length.
    Cursor body() {
        return body;
    }

    /// Size of an offset in this unit's format, 4 or 8.
    int offsetSize() {
        return offsetSize;
    }
}
