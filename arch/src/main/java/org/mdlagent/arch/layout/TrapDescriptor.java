package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_trap` (`mdl/layout.h`), a thread's continuation at a trapping byte. The header
/// documents each field.
public final class TrapDescriptor {
    public static final long ADDRESS = 0;
    public static final long ACTION = 8;
    public static final long HITS = 16;

    public static final long SIZE = 32;

    public static final int KIND_NONE = 0;
    public static final int KIND_JUMP = 1;
    public static final int KIND_CALL = 2;
    public static final int KIND_SPIN = 3;

    public static final int LENGTH_SHIFT = 48;
    public static final int KIND_SHIFT = 56;

    private TrapDescriptor() {}
}
