package org.mdlagent.arch.site;

import java.util.List;

/// What a function's own code says about its entry.
///
/// @param loops        whether a branch leads to its first byte
/// @param intoEntry    whether a branch leads into the bytes behind the first that a jump at the entry takes
/// @param stackLoads   what it reads in its frame, by ascending offset
public record FunctionShape(boolean loops, boolean intoEntry, List<StackLoad> stackLoads) {
    /// A load of a word relative to the stack or frame pointer.
    ///
    /// @param offset       of the instruction from the function's start
    /// @param register     DWARF's number of it
    /// @param displacement from it
    public record StackLoad(int offset, int register, int displacement) {}
}
