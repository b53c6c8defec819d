package org.mdlagent.arch.layout;

/// Offsets in `struct mdl_slice` of `mdl/layout.h`, what was measured in a slice of time: bytes from its start. What
/// each field means, its unit and its writer stand there.
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
