package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_slice` (`mdl/layout.h`), the measurements of a slice of time. The header
/// documents each field.
public final class SliceDescriptor {
    public static final long START_TSC = 0;
    public static final long END_TSC = 8;
    public static final long CHUNKS = 16;
    public static final long SIZE_AT = 24;
    public static final long FUNCTIONS = 28;
    public static final long LEFT_OUT = 32;
    public static final long AGENT_CPU_NANOS = 40;
    public static final long PROGRAM_CPU_NANOS = 48;
    public static final long PROBE_TICKS = 56;

    public static final long SIZE = 64;

    /// Slots of a row's histogram per slot of a slice's.
    public static final int SLOT = 8;

    /// Slots of a slice's histogram.
    public static final int SLOTS = RowDescriptor.CHUNKS * RowDescriptor.CHUNK_SLOTS / SLOT;

    private SliceDescriptor() {}
}
