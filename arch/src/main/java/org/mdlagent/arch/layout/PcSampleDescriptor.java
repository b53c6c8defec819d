package org.mdlagent.arch.layout;

/// Offsets in `struct mdl_pc_sample` of `mdl/layout.h`, one sample of a thread: bytes from its start. What each field
/// means, its unit and its writer stand there.
public final class PcSampleDescriptor {
    public static final long ADDRESS = 0;
    public static final long MILLIS = 8;
    public static final long NODE = 12;
    public static final long THREAD = 16;
    public static final long WEIGHT = 20;

    public static final long SIZE = 24;

    private PcSampleDescriptor() {}
}
