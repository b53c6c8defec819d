package org.mdlagent.arch.site;

import java.util.List;

/// What a search for hook transfers found.
///
/// @param sites         in ascending order of address
/// @param unproved      candidates outside all ranges, or not on an instruction boundary
/// @param unpatchable   transfers in a form that cannot be toggled, such as conditional jumps
public record HookScan(List<SiteInstruction> sites, int unproved, int unpatchable) {}
