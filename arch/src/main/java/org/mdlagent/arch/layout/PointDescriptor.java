package org.mdlagent.arch.layout;

/// Offsets in `struct mdl_point` of `mdl/layout.h`, a point of a metric's history: bytes from its start. What each
/// field means stands there.
public final class PointDescriptor {
    public static final long TSC = 0;
    public static final long AMOUNT = 8;

    public static final long SIZE = 16;

    private PointDescriptor() {}
}
