package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_caller` (`mdl/layout.h`), the calls of a function from one place. The header
/// documents each field.
public final class CallerDescriptor {
    public static final long NEXT = 0;
    public static final long NEXT_NEW = 8;
    public static final long FROM = 16;
    public static final long CALLS = 24;
    public static final long TOTAL = 32;
    public static final long FUNCTION = 40;
    public static final long CALLER = 44;
    public static final long BELOW = 48;

    public static final long SIZE = 56;

    /// Values of [#CALLER] that are no index plus 1.
    public static final int CALLER_UNRESOLVED = 0;

    public static final int CALLER_NONE = -1;

    private CallerDescriptor() {}
}
