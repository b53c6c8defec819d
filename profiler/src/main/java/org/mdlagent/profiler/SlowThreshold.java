package org.mdlagent.profiler;

/// Which calls are slow, so that they are kept with their callees.
///
/// @param nanos elapsed time from which on a call is slow; [#OWN_PERCENTILE] or 0 in the constants
public record SlowThreshold(long nanos) {
    private static final long OWN_PERCENTILE = -1;

    /// No slow calls are kept.
    public static final SlowThreshold NONE = new SlowThreshold(0);

    /// Each function's own p99.9.
    public static final SlowThreshold OWN = new SlowThreshold(OWN_PERCENTILE);

    /// Shortest threshold. Calls of a part of it go into a ring, which takes half a microsecond.
    public static final long NANOS_MIN = 100_000;

    /// @throws IllegalArgumentException if calls of this duration are too frequent to be kept
    public SlowThreshold {
        if (nanos > 0 && nanos < NANOS_MIN || nanos < OWN_PERCENTILE) {
            throw new IllegalArgumentException("the shortest threshold of slow calls is 100us");
        }
    }

    /// Whether slow calls are kept.
    public boolean isWanted() {
        return nanos != 0;
    }

    /// Whether each function has a threshold of its own.
    public boolean isOwn() {
        return nanos == OWN_PERCENTILE;
    }
}
