package org.mdlagent.arch.layout;

/// Offsets in `struct mdl_rate_spread` of `mdl/api.h`: bytes from its start. What each field means, its unit
/// and its writer stand there.
public final class RateSpreadDescriptor {
    public static final long CALLS = 0;
    public static final long NANOS = 8;
    public static final long RATE = 16;
    public static final long RATE_NANOS = 24;
    public static final long SQUARES = 32;
    public static final long PAIRS = 40;
    public static final long PEAK = 48;

    public static final long SIZE = 56;

    private RateSpreadDescriptor() {}
}
