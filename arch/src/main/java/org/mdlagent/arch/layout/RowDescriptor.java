package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_row` (`mdl/layout.h`), a histogram of durations in ticks. The header documents
/// each field.
public final class RowDescriptor {
    public static final long COUNT = 0;
    public static final long TOTAL = 8;
    public static final long MIN = 16;
    public static final long MAX = 24;
    public static final long SELF = 32;
    public static final long FUNCTION = 40;
    public static final long WEIGHT = 44;
    public static final long SAMPLES = 48;
    public static final long NESTED = 56;
    public static final long CALLERS = 64;
    public static final long CHUNKS_AT = 72;

    public static final long SIZE = 456;

    /// Chunks of a row, and slots of a chunk: `index = chunk * CHUNK_SLOTS + slot`.
    public static final int CHUNKS = 48;

    public static final int CHUNK_SLOTS = 128;

    private RowDescriptor() {}
}
