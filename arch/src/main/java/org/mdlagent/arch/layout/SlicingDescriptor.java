package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_slicing` (`mdl/api.h`), functions whose probes are on in slices of time, all
/// alike. The header documents each field.
public final class SlicingDescriptor {
    public static final long FUNCTIONS = 0;
    public static final long COUNT = 8;
    public static final long STEP = 16;
    public static final long TIMED = 24;
    public static final long PERIOD_NANOS = 32;
    public static final long SETTLING_NANOS = 40;
    public static final long LENGTH_NANOS = 48;
    public static final long NEXT = 56;
    public static final long AGENT_NANOS = 64;
    public static final long SLICES = 72;
    public static final long CPU_NANOS = 136;

    /// Number of distinct steps.
    public static final int STEPS = 8;

    public static final long SIZE = 200;

    private SlicingDescriptor() {}
}
