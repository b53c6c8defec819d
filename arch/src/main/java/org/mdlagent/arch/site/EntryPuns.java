package org.mdlagent.arch.site;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.code.RelocatedCode;
import org.mdlagent.arch.elf.FrameRule;
import org.mdlagent.arch.shim.NativeApi;

/// How entries of functions that no compiler has prepared are made to toggle: a jump takes the place of their first
/// instructions, which are executed elsewhere then. Where no one store can put it there ([EntryPun#inOneUnit]) it is
/// part of the text before anybody executes it, and leads to a gate: an aligned jump that one store leads elsewhere.
public interface EntryPuns {
    /// How many bytes of a function, and of what follows it, are looked at.
    int READ_MAX = 48;

    /// Whether a jump can take the place of a function's first instructions.
    sealed interface Fit permits EntryPun, Refusal {}

    /// What becomes of threads that stand at an instruction behind the first, of those that the jump covers.
    enum Covered {
        /// They trap, once, and go on in the copy.
        TRAPS,
        /// They execute it where it stands: the jump leaves these bytes as they are. So it may be switched while
        /// signals are blocked; but few addresses are left that it can lead to.
        STAYS
    }

    /// What can be done at a function's entry.
    ///
    /// @param code   from the function's first byte to the next function's, or the end of the text; no more than
    ///     [#READ_MAX] bytes are needed
    /// @param at     where the first byte stands
    /// @param length of the function; what follows of `code` may be padding
    Fit fit(LengthDecoder decoder, byte[] code, long at, long length, Covered covered);

    /// What a jump can take the place of in a function of Go, whose stack has no room for more than a count, and how
    /// callers are found from there; null when it begins in a way that is not known.
    ///
    /// @param code as of [#fit]
    /// @param at   where the first byte stands
    @Nullable
    Checked checked(byte[] code, long at);

    /// @param rules how callers are found from the site's instructions, by offset
    record Checked(EntryPun pun, List<FrameRule> rules) {}

    /// Address behind the jump, which its displacement counts from.
    long behind(SiteInstruction site);

    /// The stores that toggle the site between its own instructions, which stand there, and a jump to `target`. It is
    /// off as it is.
    ///
    /// @throws IllegalArgumentException when the rule does not allow the displacement, or it is none of 32 bits
    PatchPlan plan(EntryPun pun, long target);

    /// The store that toggles what the site leads to for good: a gate, which leads to a stub or to the copy.
    ///
    /// @param target where the site's jump leads: the gate, or a hop to it
    /// @param gate   a multiple of eight
    /// @throws IllegalArgumentException as [#plan(EntryPun, long)]
    PatchPlan plan(EntryPun pun, long target, long gate, long stub, long copy);

    /// What stands in for the site's instructions, and goes on behind them. A thread that meets a trapping byte of the
    /// jump goes on in there. It has the same length for every `at` within reach.
    ///
    /// @param at where it will stand
    /// @throws IllegalArgumentException when they cannot be executed elsewhere, with the reason
    RelocatedCode displaced(NativeApi decoder, SiteInstruction site, long at);
}
