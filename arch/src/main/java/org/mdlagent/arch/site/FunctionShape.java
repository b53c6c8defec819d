package org.mdlagent.arch.site;

/// Properties of a function's entry, found in its own code.
///
/// @param loops        whether a branch leads to its first byte
/// @param intoEntry    whether a branch leads into the bytes after the first that a jump at the entry covers
public record FunctionShape(boolean loops, boolean intoEntry) {}
