package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_countdown` (`mdl/layout.h`), a thread's choice of timed calls of a function.
/// The header documents each field.
public final class CountdownDescriptor {
    public static final long LEFT = 0;
    public static final long WEIGHT = 4;

    public static final long SIZE = 8;

    private CountdownDescriptor() {}
}
