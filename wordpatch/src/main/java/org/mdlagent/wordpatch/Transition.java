package org.mdlagent.wordpatch;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.Redirect;

/// How one word of a site becomes another: worked out and proved once for each pair of words, then kept.
///
/// @param from      the old word
/// @param to        the new word
/// @param straddles whether an instruction of the old or the new word lies on both sides of the unit's boundary
/// @param head      the first byte of the old word's instruction that does; null when there is none
/// @param interior  what must be published before any store: trapping bytes of the new word
record Transition(
        long from, long to, boolean straddles, @Nullable Head head, List<Trap> interior) {

    /// A row of the trap table, and what it says.
    record Trap(long row, Redirect action) {}

    /// Where a trapping byte is to be stored, and what a thread does that meets it: the old instruction.
    ///
    /// @param alias where to store it
    /// @param row   of the trap table
    /// @param stays whether the new word has a trapping byte there too, so that the row must stay
    record Head(long alias, long row, Redirect action, boolean stays) {}

    boolean changes(Part part) {
        return ((from ^ to) & part.mask()) != 0;
    }
}
