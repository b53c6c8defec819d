package org.mdlagent.arch.layout;

/// Offsets in `struct mdl_pc_samples` of `mdl/layout.h`, where the program's threads spent their CPU time: bytes from
/// its start. What each field means, its unit and its writer stand there.
public final class PcSamplesDescriptor {
    public static final long PERIOD_NANOS = 0;
    public static final long SAMPLES = 8;
    public static final long PROBES = 16;
    public static final long ELSEWHERE = 24;
    public static final long LOST = 32;
    public static final long FUNCTIONS = 40;
    public static final long IMAGE_COUNT = 48;
    public static final long SQUARES = 56;
    public static final long IMAGES = 64;

    /// Rows that there are.
    public static final int IMAGES_MAX = 32;

    public static final long SIZE = IMAGES + IMAGES_MAX * PcImageDescriptor.SIZE;

    private PcSamplesDescriptor() {}
}
