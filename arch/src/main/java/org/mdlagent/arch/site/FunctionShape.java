package org.mdlagent.arch.site;

/// What a function's own code says about its entry.
///
/// @param loops        whether a branch leads to its first byte
/// @param intoEntry    whether a branch leads into the bytes behind the first that a jump at the entry takes
public record FunctionShape(boolean loops, boolean intoEntry) {}
