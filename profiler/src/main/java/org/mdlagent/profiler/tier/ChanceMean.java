package org.mdlagent.profiler.tier;

/// Sampling factors of timing by chance: one call is timed of a power of two, as machine code draws them.
final class ChanceMean {
    /// Hysteresis: a factor is kept until it is wrong by this factor, because each change costs a store that
    /// threads wait for.
    private static final double CHANGE = 4;

    private static final int MAX = 1 << 20;

    private ChanceMean() {}

    /// @param wanted  the ideal factor; NaN if unknown
    /// @param present the present factor, below 2 if calls were not timed by chance
    /// @return the present factor if it is close enough, else the nearest power of two
    static int of(double wanted, int present) {
        if (Double.isNaN(wanted)) {
            return Math.max(2, present);
        }
        if (present > 1 && wanted < CHANGE * present && CHANGE * wanted > present) {
            return present;
        }
        return Integer.highestOneBit((int) Math.clamp(wanted * Math.sqrt(2), 2, MAX));
    }
}
