package org.mdlagent.arch.layout;

/// Offsets in `struct mdl_blocks` of `mdl/layout.h`, the basic blocks of a session.
public final class BlocksDescriptor {
    public static final long AT = 0;
    public static final long ROOM = 8;
    public static final long CAPACITY = 16;
    public static final long COUNT = 20;
    public static final long TABLE = 24;

    public static final long SIZE = 32;

    private BlocksDescriptor() {}
}
