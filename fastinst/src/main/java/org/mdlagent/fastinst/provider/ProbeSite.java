package org.mdlagent.fastinst.provider;

import java.util.List;
import org.mdlagent.arch.elf.FrameRule;
import org.mdlagent.arch.site.FrameKey;
import org.mdlagent.arch.site.SiteInstruction;

/// A place in the program where a function is entered or left.
///
/// @param hook  the instruction
/// @param key   how the frame of the call is identified there
/// @param rules where instructions are displaced: how callers are found from them
public record ProbeSite(SiteInstruction hook, FrameKey key, List<FrameRule> rules) {
    public ProbeSite(SiteInstruction hook, FrameKey key) {
        this(hook, key, List.of());
    }
}
