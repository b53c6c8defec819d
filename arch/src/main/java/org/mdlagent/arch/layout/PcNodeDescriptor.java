package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_pc_node` (`mdl/layout.h`), a sampled call path. The header documents each
/// field.
public final class PcNodeDescriptor {
    public static final long SAMPLES = 0;
    public static final long WAITS = 8;
    public static final long PARENT = 16;
    public static final long FRAME = 20;

    public static final long SIZE = 24;

    private PcNodeDescriptor() {}
}
