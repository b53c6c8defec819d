package org.mdlagent.arch.layout;

/// The ring of time slices.
public final class SliceRows {
    private SliceRows() {}

    /// Offset in the ring of the row of a slice.
    public static long at(long slice) {
        return SlicesDescriptor.ROWS + slice % SlicesDescriptor.SLICES * SliceDescriptor.SIZE;
    }
}
