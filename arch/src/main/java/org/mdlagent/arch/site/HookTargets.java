package org.mdlagent.arch.site;

/// Targets of transfers to instrumentation hooks, as addresses in memory.
///
/// @param entries    addresses of the entry hook: linkage stubs, or the hook itself
/// @param exits      the same for the exit hook
/// @param entrySlots slots with the address of the entry hook
/// @param exitSlots  the same for the exit hook
public record HookTargets(long[] entries, long[] exits, long[] entrySlots, long[] exitSlots) {}
