package org.mdlagent.arch.layout;

/// Offsets in `struct mdl_block` of `mdl/layout.h`, one basic block.
public final class BlockDescriptor {
    public static final long ADDRESS = 0;
    public static final long SIZE_AT = 8;
    public static final long FUNCTION = 12;
    public static final long INSTRUCTIONS = 16;
    public static final long LAST = 20;
    public static final long LINES = 24;
    public static final long COUNTER = 32;

    public static final long SIZE = 40;

    private BlockDescriptor() {}
}
