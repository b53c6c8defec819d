package org.mdlagent.arch.layout;

/// Offsets in `struct mdl_frame` of `mdl/layout.h`, a frame of the shadow stack: bytes from its start.
/// What each field means, its unit and its writer stand there.
public final class FrameDescriptor {
    public static final long KEY = 0;
    public static final long FUNCTION = 8;
    public static final long CALL = 16;

    public static final long SIZE = 40;

    private FrameDescriptor() {}
}
