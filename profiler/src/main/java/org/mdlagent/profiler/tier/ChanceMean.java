package org.mdlagent.profiler.tier;

/// Of how many calls one is timed by chance: powers of two, as machine code draws them.
final class ChanceMean {
    /// A mean stays unless it is wrong by so much: each change of it costs a store that threads wait for.
    private static final double CHANGE = 4;

    private static final int MAX = 1 << 20;

    private ChanceMean() {}

    /// @param wanted  of how many calls one is to be timed; not a number where that is not known
    /// @param present the mean so far, below 2 where calls were not timed by chance
    /// @return the present one, where that is near enough
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
