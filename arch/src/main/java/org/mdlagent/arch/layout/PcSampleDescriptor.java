package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_pc_sample` (`mdl/layout.h`), one sample of a thread. The header documents each
/// field.
public final class PcSampleDescriptor {
    public static final long ADDRESS = 0;
    public static final long MILLIS = 8;
    public static final long NODE = 12;
    public static final long THREAD = 16;
    public static final long WEIGHT = 20;

    public static final long SIZE = 24;

    private PcSampleDescriptor() {}
}
