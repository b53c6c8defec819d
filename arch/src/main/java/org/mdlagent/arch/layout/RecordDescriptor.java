package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_record` (`mdl/layout.h`), a timed call with its caller, in a thread's ring.
/// The header documents each field.
public final class RecordDescriptor {
    public static final long START = 0;
    public static final long DURATION = 8;
    public static final long CALLER = 16;
    public static final long FUNCTION = 24;
    public static final long SEQ = 28;

    public static final long SIZE = 32;

    private RecordDescriptor() {}
}
