package org.mdlagent.arch.site;

/// Where the transfers to instrumentation hooks lead to, as addresses in memory.
///
/// @param entries    addresses that stand for the entry hook: linkage stubs, or the hook itself
/// @param exits      the same for the exit hook
/// @param entrySlots slots that hold the address of the entry hook
/// @param exitSlots  the same for the exit hook
public record HookTargets(long[] entries, long[] exits, long[] entrySlots, long[] exitSlots) {}
