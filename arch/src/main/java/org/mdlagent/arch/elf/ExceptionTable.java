package org.mdlagent.arch.elf;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/// The landing pads of a function, from its language-specific data as GCC's and LLVM's personality routines read
/// them.
final class ExceptionTable {
    private static final int OMITTED = 0xff;
    private static final int CHAIN_MAX = 1 << 12;
    private static final int TYPES_MAX = 1 << 16;

    private ExceptionTable() {}

    /// All of it.
    ///
    /// @param table its address
    /// @param start of the range that the table belongs to
    /// @return null if it has exception specifications (`throw(T)`), or is otherwise unusual
    static @Nullable ExceptionData read(ElfFile file, long table, long start, Cie cie) throws ElfFormatException {
        Cursor at = file.loadedFrom(table, "an exception table");
        PointerEncoding.Bases bases = new PointerEncoding.Bases(table, 0);
        int startEncoding = at.u8();
        long base = startEncoding == OMITTED ? start : PointerEncoding.read(startEncoding, at, bases);
        int typeEncoding = at.u8();
        long toTypes = typeEncoding == OMITTED ? 0 : at.uleb();
        long types = typeEncoding == OMITTED ? 0 : table + at.position() + toTypes;
        int encoding = at.u8();
        Cursor sites = at.take(at.uleb());
        List<ExceptionData.Site> all = new ArrayList<>();
        while (sites.hasRemaining()) {
            long from = PointerEncoding.readSize(encoding, sites);
            long length = PointerEncoding.readSize(encoding, sites);
            long pad = PointerEncoding.readSize(encoding, sites);
            all.add(new ExceptionData.Site(start + from, length, pad == 0 ? 0 : base + pad, sites.uleb()));
        }
        int actionsAt = at.position();
        int actionsEnd = actionsAt;
        long typeCount = 0;
        for (ExceptionData.Site site : all) {
            long record = site.action() == 0 ? -1 : actionsAt + site.action() - 1;
            for (int length = 0; record >= 0; length++) {
                at.position(record);
                long filter = at.sleb();
                int nextAt = at.position();
                long next = at.sleb();
                if (filter < 0 || length == CHAIN_MAX) {
                    return null;
                }
                typeCount = Math.max(typeCount, filter);
                actionsEnd = Math.max(actionsEnd, at.position());
                record = next == 0 ? -1 : nextAt + next;
            }
        }
        if (typeCount > TYPES_MAX || typeCount > 0 && typeEncoding == OMITTED) {
            return null;
        }
        at.position(actionsAt);
        byte[] actions = at.take(actionsEnd - actionsAt).rest();
        return new ExceptionData(
                cie.personality, cie.personalityIsIndirect, all, actions, types, typeEncoding, (int) typeCount);
    }

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
