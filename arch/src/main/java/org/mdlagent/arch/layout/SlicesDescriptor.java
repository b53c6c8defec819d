package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_slices` (`mdl/layout.h`), the ring of time slices. The header documents each
/// field.
public final class SlicesDescriptor {
    public static final long COMPLETE = 0;
    public static final long ROWS = 64;

    /// Number of rows. One of them may be being written.
    public static final int SLICES = 480;

    public static final long SIZE = ROWS + SLICES * SliceDescriptor.SIZE;

    /// Offset of the row of a slice.
    public static long row(long slice) {
        return ROWS + slice % SLICES * SliceDescriptor.SIZE;
    }

    private SlicesDescriptor() {}
}
