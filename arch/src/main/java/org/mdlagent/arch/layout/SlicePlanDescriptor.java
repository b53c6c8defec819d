package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_slice_plan` (`mdl/api.h`). The header documents each field.
public final class SlicePlanDescriptor {
    public static final long APART = 0;
    public static final long MEANS = 8;
    public static final long BEGUN = 16;
    public static final long TICKS_PER_NANO = 24;
    public static final long SPREADS = 32;
    public static final long OF = 40;

    /// Slicings in a plan.
    public static final int SLICINGS = 5;

    public static final long SIZE = OF + SLICINGS * SlicingDescriptor.SIZE;

    private SlicePlanDescriptor() {}
}
