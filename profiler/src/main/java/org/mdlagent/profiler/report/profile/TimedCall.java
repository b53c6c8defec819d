package org.mdlagent.profiler.report.profile;

/// One call that was timed.
///
/// @param pid        of the process
/// @param tid        of the thread, or of one that had its block later
/// @param startNanos since the session began
public record TimedCall(int pid, int tid, FunctionProfile function, long startNanos, long nanos) {}
