package org.mdlagent.arch.site;

/// Which displacements a site's jump may have: those whose bits under a mask have given values.
///
/// @param mask  0 when any will do
/// @param value of the bits under the mask; the others are 0
public record DisplacementRule(int mask, int value) {
    /// Any displacement.
    public static final DisplacementRule ANY = new DisplacementRule(0, 0);

    /// [#firstFrom] when there is none.
    public static final long NONE = -1;

    /// @throws IllegalArgumentException when the value has bits beyond the mask
    public DisplacementRule {
        if ((value & ~mask) != 0) {
            throw new IllegalArgumentException("a value beyond its mask");
        }
    }

    public boolean allows(int displacement) {
        return (displacement & mask) == value;
    }

    /// The first displacement that is allowed, from `from` on upwards, as unsigned numbers; [#NONE] when there is none.
    public long firstFrom(int from) {
        if (allows(from)) {
            return Integer.toUnsignedLong(from);
        }
        int highest = Integer.highestOneBit((from & mask) ^ value);
        int below = (highest << 1) - 1;
        if ((value & highest) != 0) {
            // Raised to the value: the rest is the least that is allowed.
            return Integer.toUnsignedLong(from & ~below | value & below);
        }
        // One more in what is free above; all other bits hand the carry on.
        int free = ~mask & ~below;
        int raised = (from | ~free) + 1 & free;
        return raised == 0 ? NONE : Integer.toUnsignedLong(raised | value);
    }
}
