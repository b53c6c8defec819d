package org.mdlagent.arch.layout;

/// Offsets in `struct mdl_pc_node` of `mdl/layout.h`, a call path that threads were on: bytes from its start.
/// What each
/// field means, its unit and its writer stand there.
public final class PcNodeDescriptor {
    public static final long SAMPLES = 0;
    public static final long PARENT = 8;
    public static final long FRAME = 12;

    public static final long SIZE = 16;

    private PcNodeDescriptor() {}
}
