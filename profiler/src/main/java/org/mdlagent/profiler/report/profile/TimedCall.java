package org.mdlagent.profiler.report.profile;

/// One timed call.
///
/// @param pid        of the process
/// @param tid        of the thread; below 0 for ended threads whose block has a new owner: one number for all
///     of them per block
/// @param startNanos since the session began
public record TimedCall(int pid, int tid, FunctionProfile function, long startNanos, long nanos) {}
