package org.mdlagent.arch.layout;

/// Offsets in `struct mdl_pc_node` of `mdl/layout.h`, a sampled call path: bytes from its start. The meaning, unit and
/// writer of each field are there.
public final class PcNodeDescriptor {
    public static final long SAMPLES = 0;
    public static final long PARENT = 8;
    public static final long FRAME = 12;

    public static final long SIZE = 16;

    private PcNodeDescriptor() {}
}
