package org.mdlagent.fastinst.provider;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.DynamicSection;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.ElfFormatException;
import org.mdlagent.arch.elf.Segment;
import org.mdlagent.arch.site.StackUse;

/// The contents of a file at link-time addresses, read in pieces.
final class FileConstants implements StackUse.Constants {
    private static final int PIECE = 4096;

    private final ElfFile elf;
    private ByteBuffer piece = ByteBuffer.allocate(0);
    private long start;
    private @Nullable Map<Long, Long> addends;

    FileConstants(ElfFile elf) {
        this.elf = elf;
    }

    @Override
    public long number(long address) {
        return has(address, Integer.BYTES) ? piece.getInt((int) (address - start)) : UNKNOWN;
    }

    @Override
    public long word(long address) {
        long relocated = relocated(address);
        return relocated != UNKNOWN
                ? relocated
                : has(address, Long.BYTES) ? piece.getLong((int) (address - start)) : UNKNOWN;
    }

    /// The value that the dynamic linker stores in a word that is read-only afterwards, if it is an address
    /// in the image.
    long relocated(long address) {
        if (!isReadOnlyAfterRelocation(address)) {
            return UNKNOWN;
        }
        Long addend = addends().get(address);
        return addend == null ? UNKNOWN : addend;
    }

    private boolean isReadOnlyAfterRelocation(long address) {
        for (Segment segment : elf.segments()) {
            if (segment.readOnlyAfterRelocation() && segment.contains(address)) {
                return true;
            }
        }
        return false;
    }

    private Map<Long, Long> addends() {
        Map<Long, Long> known = addends;
        if (known == null) {
            try {
                DynamicSection dynamic = elf.dynamic();
                known = dynamic == null ? Map.of() : dynamic.addends();
            } catch (ElfFormatException e) {
                known = Map.of();
            }
            addends = known;
        }
        return known;
    }

    private boolean has(long address, int bytes) {
        if (address >= start && address + bytes <= start + piece.limit()) {
            return true;
        }
        for (Segment segment : elf.segments()) {
            long there = segment.address() + segment.fileSize() - address;
            if (segment.loaded() && segment.holds(address) && there >= bytes) {
                return read(address, Math.min(PIECE, there));
            }
        }
        return false;
    }

    private boolean read(long address, long length) {
        try {
            piece = ByteBuffer.wrap(elf.code(address, length)).order(ByteOrder.LITTLE_ENDIAN);
            start = address;
            return true;
        } catch (ElfFormatException e) {
            return false;
        }
    }
}
