package org.mdlagent.fastinst.install;

import org.jspecify.annotations.Nullable;

/// Which calls of a function are timed in a sampled session.
///
/// @param mean 0: the function is sliced. Otherwise every call is counted: 1, all are timed; N, one of N is
///     timed, by chance
public record Tier(int mean) {
    public static final Tier SLICED = new Tier(0);
    public static final Tier EXACT = new Tier(1);

    /// Keeps even very improbable intervals between timed calls within 31 bits.
    public static final int MEAN_MAX = 1 << 24;

    /// @throws IllegalArgumentException when there is no such tier
    public Tier {
        if (mean < 0 || mean > MEAN_MAX) {
            throw new IllegalArgumentException("of how many calls one is timed is a number from 1 to " + MEAN_MAX);
        }
    }

    // Written out: the compiler's links method handles, which costs milliseconds at each start.
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Tier tier && mean == tier.mean;
    }

    @Override
    public int hashCode() {
        return mean;
    }
}
