package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_call` (`mdl/layout.h`), a timed call that runs. The header documents each
/// field.
public final class CallDescriptor {
    public static final long INSIDE = 0;
    public static final long BEFORE = 8;
    public static final long START = 16;

    public static final long SIZE = 24;

    /// Bits in [#INSIDE].
    public static final int WEIGHED_BIT = 63;

    public static final int MEASURED_BIT = 62;
    public static final int UNTIMED_BIT = 61;

    private CallDescriptor() {}
}
