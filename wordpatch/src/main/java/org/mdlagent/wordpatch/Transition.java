package org.mdlagent.wordpatch;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// How one word of a site becomes another: computed and proved once for each pair of words, then kept.
///
/// @param from      the old word
/// @param to        the new word
/// @param straddles whether an instruction of the old or the new word straddles the unit's boundary
/// @param onlySide  the only part of the site that changes; null when both do
/// @param head      the first byte of the old word's straddling instruction; null when there is none
/// @param interior  trapping bytes inside the new word, whose rows must be published before any store
record Transition(
        long from,
        long to,
        boolean straddles,
        @Nullable Part onlySide,
        @Nullable Head head,
        List<Trap> interior) {

    /// A row of the trap table, and its contents ([Redirect#action]).
    record Trap(long row, long action) {}

    /// Where a trapping byte is stored, and what a thread does that meets it: the old instruction.
    ///
    /// @param alias where to store it
    /// @param row   of the trap table, with `action`
    /// @param stays whether the new word has a trapping byte there too, so that the row must stay
    record Head(long alias, long row, long action, boolean stays) {}
}
