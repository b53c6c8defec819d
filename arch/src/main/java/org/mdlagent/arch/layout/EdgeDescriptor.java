package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_edge` (`mdl/layout.h`), the calls of a function by one caller. The header
/// documents each field.
public final class EdgeDescriptor {
    public static final long NEXT = 0;
    public static final long CALLER = 8;
    public static final long CALLS = 16;
    public static final long TOTAL = 24;
    public static final long SAMPLES = 32;

    public static final long SIZE = 40;

    /// Maximum edges of a list, including [#CALLER_OTHER].
    public static final int CALLERS = 256;

    public static final int CALLER_NONE = -1;
    public static final int CALLER_OTHER = -2;

    private EdgeDescriptor() {}
}
