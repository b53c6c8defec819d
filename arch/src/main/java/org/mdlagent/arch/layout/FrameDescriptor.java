package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_frame` (`mdl/layout.h`), a frame of the shadow stack. The header documents
/// each field.
public final class FrameDescriptor {
    public static final long KEY = 0;
    public static final long FUNCTION = 8;
    public static final long CALL = 16;

    public static final long SIZE = 40;

    private FrameDescriptor() {}
}
