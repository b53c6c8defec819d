package org.mdlagent.arch.layout;

/// Offsets in `struct mdl_pc_image` of `mdl/layout.h`, an image's code that is no probed function's: bytes from its
/// start. What each field means, its unit and its writer stand there.
public final class PcImageDescriptor {
    public static final long PATH = 0;
    public static final long SAMPLES = 8;

    public static final long SIZE = 16;

    private PcImageDescriptor() {}
}
