package org.mdlagent.wordpatch;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// How one word of a site becomes another: worked out and proved once for each pair of words, then kept.
///
/// @param from      the old word
/// @param to        the new word
/// @param straddles whether an instruction of the old or the new word lies on both sides of the unit's boundary
/// @param onlySide  the part of the site that changes alone; null when both do
/// @param head      the first byte of the old word's instruction that does; null when there is none
/// @param interior  what must be published before any store: trapping bytes of the new word
record Transition(
        long from,
        long to,
        boolean straddles,
        @Nullable Part onlySide,
        @Nullable Head head,
        List<Trap> interior) {

    /// A row of the trap table, and what it says ([Redirect#action]).
    record Trap(long row, long action) {}

    /// Where a trapping byte is to be stored, and what a thread does that meets it: the old instruction.
    ///
    /// @param alias where to store it
    /// @param row   of the trap table, which says `action`
    /// @param stays whether the new word has a trapping byte there too, so that the row must stay
    record Head(long alias, long row, long action, boolean stays) {}
}
