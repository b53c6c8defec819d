package org.mdlagent.profiler.report.profile;

/// One call that was timed.
///
/// @param pid        of the process
/// @param tid        of the thread; below 0 where it has ended and another one has its block: the same for all of the
///                   block's
/// @param startNanos since the session began
public record TimedCall(int pid, int tid, FunctionProfile function, long startNanos, long nanos) {}
