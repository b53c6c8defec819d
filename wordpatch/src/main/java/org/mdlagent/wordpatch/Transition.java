package org.mdlagent.wordpatch;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.Redirect;

/// How one word of a site becomes another: worked out and proved once for each pair of words, then kept.
///
/// @param from      the old word
/// @param to        the new word
/// @param front     the bytes before the boundary of the atomic unit; all bytes when there is none
/// @param tail      the bytes behind the boundary; null when there is none
/// @param straddles whether an instruction of the old or the new word lies on both sides of the boundary
/// @param head      the old word's instruction that does; null when there is none
/// @param interior  what must be published before any store: trapping bytes of the new word
record Transition(
        long from,
        long to,
        Part front,
        @Nullable Part tail,
        boolean straddles,
        @Nullable Head head,
        List<Trap> interior) {

    /// A row of the trap table, and what it says.
    record Trap(long row, Redirect action) {}

    /// The first byte of the old word's straddling instruction.
    ///
    /// @param alias  where to store the trapping byte
    /// @param trap   leads threads to the old instruction
    /// @param stays  whether the new word has a trapping byte there too, so that the row must stay
    record Head(long alias, Trap trap, boolean stays) {}

    /// The side that changes, if only one does.
    @Nullable
    Part onlySide() {
        return !changesTail() ? front : !changesFront() ? tail : null;
    }

    boolean changesFront() {
        return changes(front);
    }

    boolean changesTail() {
        return tail != null && changes(tail);
    }

    private boolean changes(Part part) {
        return ((from ^ to) & part.mask()) != 0;
    }
}
