package org.mdlagent.arch.site;

/// The allowed displacements of a site's jump: their bits under a mask have a given value.
///
/// @param mask  0: any
/// @param value of the bits under the mask; the others are 0
public record DisplacementRule(int mask, int value) {
    /// Any displacement.
    public static final DisplacementRule ANY = new DisplacementRule(0, 0);

    /// [#firstFrom] found none.
    public static final long NONE = -1;

    /// @throws IllegalArgumentException if the value has bits outside the mask
    public DisplacementRule {
        if ((value & ~mask) != 0) {
            throw new IllegalArgumentException("a value beyond its mask");
        }
    }

    public boolean allows(int displacement) {
        return (displacement & mask) == value;
    }

    /// The first allowed displacement, from `from` upwards in unsigned order, or [#NONE].
    public long firstFrom(int from) {
        if (allows(from)) {
            return Integer.toUnsignedLong(from);
        }
        int highest = Integer.highestOneBit((from & mask) ^ value);
        int below = (highest << 1) - 1;
        if ((value & highest) != 0) {
            // Raised to the value; the lower bits are then the minimum.
            return Integer.toUnsignedLong(from & ~below | value & below);
        }
        // Adds one to the free bits above; fixed bits propagate the carry.
        int free = ~mask & ~below;
        int raised = (from | ~free) + 1 & free;
        return raised == 0 ? NONE : Integer.toUnsignedLong(raised | value);
    }
}
