package org.mdlagent.arch.site;

import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.code.RelocatedCode;
import org.mdlagent.arch.shim.NativeApi;

/// How entries of functions that no compiler has prepared are made to toggle: a jump takes the place of their first
/// instructions, which are executed elsewhere then.
public interface EntryPuns {
    /// The site at a function's entry.
    ///
    /// @param at   the function's first byte
    /// @param end  behind the function; what lies between it and `next` is padding
    /// @param next the next function, or the end of the text
    /// @return null when no store can put a jump there
    @Nullable
    SiteInstruction site(NativeApi decoder, long at, long end, long next);

    /// Address behind the jump, which its displacement counts from.
    long behind(SiteInstruction site);

    /// The displacements that the site's jump may have.
    DisplacementRule rule(NativeApi decoder, SiteInstruction site);

    /// The stores that toggle the site between its own instructions and a jump to `target`. It is off as it is.
    ///
    /// @throws IllegalArgumentException when the rule does not allow the displacement, or it is none of 32 bits
    PatchPlan plan(NativeApi decoder, SiteInstruction site, long target);

    /// What stands in for the site's instructions, and goes on behind them. A thread that meets a trapping byte of the
    /// jump goes on in there. It has the same length for every `at` within reach.
    ///
    /// @param at where it will stand
    /// @throws IllegalArgumentException when they cannot be executed elsewhere, with the reason
    RelocatedCode displaced(NativeApi decoder, SiteInstruction site, long at);
}
