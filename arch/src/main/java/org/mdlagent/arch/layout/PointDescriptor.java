package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_point` (`mdl/layout.h`), a point of a metric's history. The header documents
/// each field.
public final class PointDescriptor {
    public static final long TSC = 0;
    public static final long AMOUNT = 8;

    public static final long SIZE = 16;

    private PointDescriptor() {}
}
