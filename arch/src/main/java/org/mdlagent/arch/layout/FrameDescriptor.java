package org.mdlagent.arch.layout;

/// Offsets in `struct mdl_frame` of `mdl/layout.h`, a frame of the shadow stack: bytes from its start.
/// What each field means, its unit and its writer stand there.
public final class FrameDescriptor {
    public static final long KEY = 0;
    public static final long FUNCTION = 8;
    public static final long TSC = 16;
    public static final long CHILDREN = 24;

    public static final long RET = 32;
    public static final long RBX = 40;
    public static final long SITE = 48;
    public static final long SIBLING = 56;
    public static final long FLAGS = 57;
    public static final long WEIGHT = 60;

    public static final long SIZE = 64;

    public static final byte FLAG_UNWOUND = 1;
    public static final byte FLAG_POOLED = 2;
    public static final byte FLAG_UNTIMED = 4;
    public static final byte FLAG_MEASURED = 8;

    private FrameDescriptor() {}
}
