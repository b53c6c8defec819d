package org.mdlagent.arch.elf;

/// A section header (gABI chapter 4, "Section Header").
///
/// @param name from the section name table, "" where there is none
/// @param type `sh_type`
/// @param flags `sh_flags`
/// @param address virtual address at link time, 0 if it is not loaded
/// @param offset bytes from the file's start
/// @param size bytes
/// @param link `sh_link`
/// @param entrySize `sh_entsize`, 0 for sections that are no tables
public record Section(
        String name, int type, long flags, long address, long offset, long size, int link, long entrySize) {
    static final int SYMBOL_TABLE = 2;
    static final int STRING_TABLE = 3;
    static final int NOTE = 7;
    static final int NO_BITS = 8;
    static final int DYNAMIC_SYMBOLS = 11;

    private static final long FLAG_COMPRESSED = 1 << 11;

    boolean compressed() {
        return (flags & FLAG_COMPRESSED) != 0;
    }
}
