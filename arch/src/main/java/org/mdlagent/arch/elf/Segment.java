package org.mdlagent.arch.elf;

/// A program header (gABI chapter 5, "Program Header").
///
/// @param type `p_type`
/// @param flags `p_flags`
/// @param offset bytes from the file's start
/// @param address virtual address at link time
/// @param fileSize bytes in the file
/// @param memorySize bytes in memory
public record Segment(int type, int flags, long offset, long address, long fileSize, long memorySize) {
    static final int LOAD = 1;
    static final int DYNAMIC = 2;
    static final int NOTE = 4;
    static final int GNU_EH_FRAME = 0x6474e550;
    private static final int GNU_RELRO = 0x6474e552;

    private static final int FLAG_EXECUTE = 1;
    private static final int FLAG_WRITE = 2;

    /// Whether it is loaded.
    public boolean loaded() {
        return type == LOAD;
    }

    /// Whether it is loaded and executable.
    public boolean executable() {
        return loaded() && (flags & FLAG_EXECUTE) != 0;
    }

    /// Whether it is loaded and writable.
    public boolean writable() {
        return loaded() && (flags & FLAG_WRITE) != 0;
    }

    /// Whether the dynamic linker makes it read-only after relocation.
    public boolean readOnlyAfterRelocation() {
        return type == GNU_RELRO;
    }

    /// Whether this segment contains a virtual address.
    public boolean contains(long virtualAddress) {
        return Long.compareUnsigned(virtualAddress - address, memorySize) < 0;
    }

    /// Whether the file holds the byte at a virtual address.
    public boolean holds(long virtualAddress) {
        return Long.compareUnsigned(virtualAddress - address, fileSize) < 0;
    }
}
