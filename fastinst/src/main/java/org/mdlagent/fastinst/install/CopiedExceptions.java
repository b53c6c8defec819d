package org.mdlagent.fastinst.install;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.code.CodePiece;
import org.mdlagent.arch.code.FunctionCopy;
import org.mdlagent.arch.elf.EhFrame;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.ExceptionData;
import org.mdlagent.arch.elf.ExceptionWriter;
import org.mdlagent.arch.shim.Memory;

/// The exceptions that a piece of a function handles, for its copy.
///
/// @param data addresses are those in the file; null for none
record CopiedExceptions(@Nullable ExceptionData data, long bias) {
    private static final int PC_RELATIVE = 0x10;
    private static final int INDIRECT = 0x80;

    /// @throws IllegalArgumentException if they cannot be copied, with the reason
    static CopiedExceptions of(EhFrame table, int range, ElfFile elf, long bias) throws IOException {
        if (!table.handlesExceptions(range)) {
            return new CopiedExceptions(null, bias);
        }
        ExceptionData data = table.exceptions(range, elf);
        if (data == null) {
            throw new IllegalArgumentException("it has exception specifications, or other unusual handlers");
        }
        CopiedExceptions copied = new CopiedExceptions(data, bias);
        if (data.typeCount() > 0 && copied.entrySize(data) == 0) {
            throw new IllegalArgumentException("an unusual table of exception types");
        }
        return copied;
    }

    boolean isEmpty() {
        return data == null;
    }

    /// Addresses in memory where exceptions continue.
    List<Long> pads() {
        return data == null
                ? List.of()
                : data.sites().stream()
                        .filter(site -> site.pad() != 0)
                        .map(site -> site.pad() + bias)
                        .toList();
    }

    /// @throws IllegalArgumentException if a site does not begin and end at instructions of the piece
    void check(CodePiece piece, FunctionCopy copy) {
        if (data == null) {
            return;
        }
        for (ExceptionData.Site site : data.sites()) {
            long start = site.start() + bias;
            long end = start + site.length();
            boolean fits = start >= piece.address()
                    && copy.place(start) >= 0
                    && (end == piece.end() || end < piece.end() && copy.place(end) >= 0);
            if (!fits && end > piece.address()) {
                throw new IllegalArgumentException("an exception table that does not fit the instructions");
            }
        }
    }

    /// Address of the personality routine.
    long personality() {
        ExceptionData known = known();
        long at = known.personality() + bias;
        return known.isIndirect() ? Memory.getLong(at) : at;
    }

    private ExceptionData known() {
        if (data == null) {
            throw new IllegalStateException("no exceptions");
        }
        return data;
    }

    /// The language-specific data of the copy.
    ///
    /// @param at    address of the function's copy
    /// @param start offset of the piece's copy in it
    /// @param end   one past its last byte
    byte[] data(CodePiece piece, FunctionCopy copy, long at, int start, int end) {
        ExceptionData known = known();
        List<ExceptionData.Site> sites = new ArrayList<>();
        for (ExceptionData.Site site : known.sites()) {
            long from = site.start() + bias;
            long to = from + site.length();
            if (to > piece.address()) {
                long first = at + copy.place(from);
                long last = at + (to == piece.end() ? end : copy.place(to));
                long pad = site.pad() == 0 ? 0 : at + copy.landing(site.pad() + bias);
                sites.add(new ExceptionData.Site(first, last - first, pad, site.action()));
            }
        }
        return ExceptionWriter.write(sites, at + start, at - 1, known.actions(), types(known));
    }

    private long[] types(ExceptionData known) {
        long[] types = new long[known.typeCount()];
        int size = entrySize(known);
        for (int i = 0; i < types.length; i++) {
            long at = known.types() + bias - (long) (i + 1) * size;
            long value = size == Long.BYTES ? word(at) : Memory.getInt(at);
            boolean relative = (known.typeEncoding() & PC_RELATIVE) != 0;
            long place = value == 0 ? 0 : value + (relative ? at : 0);
            types[i] = place != 0 && (known.typeEncoding() & INDIRECT) != 0 ? Memory.getLong(place) : place;
        }
        return types;
    }

    /// The table is aligned to 4.
    private static long word(long at) {
        return Integer.toUnsignedLong(Memory.getInt(at)) | (long) Memory.getInt(at + Integer.BYTES) << Integer.SIZE;
    }

    private int entrySize(ExceptionData known) {
        return switch (known.typeEncoding() & 0x6F) {
            case 0x00, 0x04, 0x0C -> Long.BYTES;
            case 0x03, 0x0B -> Integer.BYTES;
            default -> 0;
        };
    }
}
