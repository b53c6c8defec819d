package org.mdlagent.arch.layout;

/// Offsets in `struct mdl_blocks` of `mdl/layout.h`, the basic blocks of a session.
public final class BlocksDescriptor {
    public static final long AT = 0;
    public static final long ROOM = 8;
    public static final long CAPACITY = 16;
    public static final long COUNT = 20;
    public static final long TABLE = 24;
    public static final long BLOCK_CAPACITY = 32;
    public static final long BLOCK_COUNT = 36;
    public static final long ARCS = 40;
    public static final long ARC_CAPACITY = 48;
    public static final long ARC_COUNT = 52;

    public static final long SIZE = 56;

    private BlocksDescriptor() {}
}
