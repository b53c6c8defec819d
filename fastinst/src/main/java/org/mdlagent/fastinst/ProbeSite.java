package org.mdlagent.fastinst;

import org.mdlagent.arch.FrameKey;
import org.mdlagent.arch.HookSite;

/// A place in the program where a function is entered or left.
///
/// @param hook the instruction
/// @param key  how the frame of the call is identified there
public record ProbeSite(HookSite hook, FrameKey key) {}
