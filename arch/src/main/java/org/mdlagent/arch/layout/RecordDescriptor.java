package org.mdlagent.arch.layout;

/// Offsets in `struct mdl_record` of `mdl/layout.h`, a timed call that tells its caller, in a thread's ring: bytes
/// from its start. What each field means, its unit and its writer stand there.
public final class RecordDescriptor {
    public static final long START = 0;
    public static final long DURATION = 8;
    public static final long CALLER = 16;
    public static final long FUNCTION = 24;
    public static final long SEQ = 28;

    public static final long SIZE = 32;

    private RecordDescriptor() {}
}
