package org.mdlagent.arch.elf;

import java.util.function.LongConsumer;

/// The landing pads of a function, from its language-specific data as GCC's and LLVM's personality routines read
/// them.
final class ExceptionTable {
    private static final int OMITTED = 0xff;

    private ExceptionTable() {}

    /// @param table its address
    /// @param start of the range that the table belongs to
    static void landingPads(ElfFile file, long table, long start, LongConsumer pads) throws ElfFormatException {
        Cursor at = file.loadedFrom(table, "an exception table");
        PointerEncoding.Bases bases = new PointerEncoding.Bases(table, 0);
        int startEncoding = at.u8();
        long base = startEncoding == OMITTED ? start : PointerEncoding.read(startEncoding, at, bases);
        if (at.u8() != OMITTED) {
            at.uleb();
        }
        int encoding = at.u8();
        Cursor sites = at.take(at.uleb());
        while (sites.hasRemaining()) {
            PointerEncoding.skip(encoding, sites);
            PointerEncoding.skip(encoding, sites);
            long pad = PointerEncoding.readSize(encoding, sites);
            sites.uleb();
            if (pad != 0) {
                pads.accept(base + pad);
            }
        }
    }
}
