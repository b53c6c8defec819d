package org.mdlagent.arch.elf;

import org.jspecify.annotations.Nullable;

/// The build id note of a linker.
final class BuildId {
    private static final int BUILD_ID_NOTE = 3;
    private static final int GNU_OWNER = 0x00554e47;

    private BuildId() {}

    /// The build id in lower-case hexadecimal, or null if these notes have none.
    static @Nullable String of(Cursor notes) throws ElfFormatException {
        while (notes.remaining() >= 12) {
            long ownerSize = notes.u32();
            long size = notes.u32();
            int noteType = notes.i32();
            Cursor owner = notes.take(padded(ownerSize, notes));
            Cursor description = notes.take(padded(size, notes));
            if (noteType == BUILD_ID_NOTE && ownerSize == 4 && owner.i32() == GNU_OWNER) {
                StringBuilder id = new StringBuilder();
                for (long i = 0; i < size; i++) {
                    int b = description.u8();
                    id.append(Character.forDigit(b >> 4, 16)).append(Character.forDigit(b & 15, 16));
                }
                return id.toString();
            }
        }
        return null;
    }

    /// Notes are padded to words; the last one's padding may be missing.
    private static long padded(long size, Cursor notes) {
        long padded = size + 3 & ~3L;
        return size <= notes.remaining() && padded > notes.remaining() ? size : padded;
    }
}
