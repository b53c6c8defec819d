package org.mdlagent.arch.layout;

/// Offsets in `struct mdl_arc` of `mdl/layout.h`, a way of control between basic blocks.
public final class ArcDescriptor {
    public static final long FROM = 0;
    public static final long TO = 4;
    public static final long KIND = 8;
    public static final long COUNTER = 12;
    public static final long TARGET = 16;

    public static final long SIZE = 20;

    private ArcDescriptor() {}
}
