package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_callers` (`mdl/layout.h`), the table of places that a function is called from. The
/// header documents each field.
public final class CallersDescriptor {
    public static final long LISTS = 0;
    public static final long OTHERS = 512;

    public static final long SIZE = 520;

    /// Lists of a table, a power of two: `list = place % LIST_COUNT`.
    public static final int LIST_COUNT = 64;

    /// Maximum structures in a list, but for what interrupted threads add.
    public static final int LIST_MAX = 16;

    private CallersDescriptor() {}
}
