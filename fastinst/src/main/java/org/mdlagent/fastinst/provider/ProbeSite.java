package org.mdlagent.fastinst.provider;

import org.mdlagent.arch.site.FrameKey;
import org.mdlagent.arch.site.SiteInstruction;

/// A place in the program where a function is entered or left.
///
/// @param hook the instruction
/// @param key  how the frame of the call is identified there
public record ProbeSite(SiteInstruction hook, FrameKey key) {}
