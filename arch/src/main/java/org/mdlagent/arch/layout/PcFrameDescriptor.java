package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_pc_frame` (`mdl/layout.h`), a place in code that was sampled. The header
/// documents each field.
public final class PcFrameDescriptor {
    public static final long SAMPLES = 0;
    public static final long ADDRESS = 8;
    public static final long FUNCTION = 16;
    public static final long IMAGE = 20;
    public static final long BUILD = 24;

    public static final long SIZE = 32;

    /// Codes in place of a function: `enum mdl_pc_code`.
    public static final int CODE_ELSEWHERE = -1;

    public static final int CODE_PROBES = -2;
    public static final int CODE_CUT = -3;
    public static final int CODE_IMAGE = -4;
    public static final int CODE_NAMED = -5;

    private PcFrameDescriptor() {}
}
