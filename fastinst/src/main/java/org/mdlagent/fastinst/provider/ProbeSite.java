package org.mdlagent.fastinst.provider;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.FrameRule;
import org.mdlagent.arch.site.EntryPun;
import org.mdlagent.arch.site.FrameKey;
import org.mdlagent.arch.site.SiteInstruction;

/// A place in the program where a function is entered or left.
///
/// @param hook      the instruction
/// @param key       how the frame of the call is identified there
/// @param displaced the displaced instructions; null if a compiler has left room
public record ProbeSite(
        SiteInstruction hook, FrameKey key, @Nullable Displaced displaced) {
    public ProbeSite(SiteInstruction hook, FrameKey key) {
        this(hook, key, null);
    }

    /// The first instructions of a function that no compiler has prepared.
    ///
    /// @param pun   how a jump replaces them
    /// @param rules how callers are found from them, by offset
    public record Displaced(EntryPun pun, List<FrameRule> rules) {}
}
