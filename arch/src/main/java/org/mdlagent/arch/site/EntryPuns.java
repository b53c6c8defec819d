package org.mdlagent.arch.site;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.code.RelocatedCode;
import org.mdlagent.arch.elf.FrameRule;
import org.mdlagent.arch.shim.NativeApi;

/// Makes entries of functions without compiler support toggle: a jump replaces their first instructions, which
/// then execute elsewhere. If no single store can make the jump ([EntryPun#cut]), it is made in steps and leads to a
/// gate: an aligned jump that one store redirects.
public interface EntryPuns {
    /// Maximum bytes of a function, and of what follows it, that are read.
    int READ_MAX = 48;

    /// Whether a jump can replace a function's first instructions.
    sealed interface Fit permits EntryPun, Refusal {}

    /// Handling of threads at a covered instruction other than the first.
    enum Covered {
        /// They trap once and continue in the copy.
        TRAPS,
        /// They execute it in place, because the jump keeps these bytes. So the jump may be switched while signals
        /// are blocked, but few target addresses are possible.
        STAYS
    }

    /// The options at a function's entry.
    ///
    /// @param code   from the function's first byte to the next function's, or the end of the text; no more than
    ///     [#READ_MAX] bytes are needed
    /// @param at     address of the first byte
    /// @param length of the function; what follows of `code` may be padding
    Fit fit(LengthDecoder decoder, byte[] code, long at, long length, Covered covered);

    /// The instructions that a jump can replace in a Go function, whose stack has room only for counting, with
    /// their unwind rules; null if its prologue is unknown.
    ///
    /// @param code as of [#fit]
    /// @param at   address of the first byte
    @Nullable
    Checked checked(byte[] code, long at);

    /// @param rules how callers are found from the site's instructions, by offset
    record Checked(EntryPun pun, List<FrameRule> rules) {}

    /// Address after the jump, the base of its displacement.
    long behind(SiteInstruction site);

    /// The words of the site: its own instructions, and a jump to `target`. It is off initially. One store toggles the
    /// site unless the jump is [EntryPun#cut].
    ///
    /// @throws IllegalArgumentException if the rule forbids the displacement, or it exceeds 32 bits
    PatchPlan plan(EntryPun pun, long target);

    /// The store that toggles a gate between a stub and the copy.
    ///
    /// @param gate a multiple of eight
    /// @throws IllegalArgumentException when it is none, or one of them is out of reach
    PatchPlan gate(long gate, long stub, long copy);

    /// A copy of the site's instructions that continues after them. A thread at a trapping byte of the jump
    /// continues in the copy. Its length is the same for every `at` within reach.
    ///
    /// @param at its future address
    /// @throws IllegalArgumentException if they cannot be executed elsewhere, with the reason
    RelocatedCode displaced(NativeApi decoder, SiteInstruction site, long at);
}
