package org.mdlagent.profiler.report.profile;

/// A thread whose CPU time was sampled.
///
/// @param tid  of the thread, 0 for threads that are not told apart
/// @param pid  of its process
/// @param name that it had when it was sampled, "" where that is not known
/// @param samples each counted as often as the periods that it stands for
public record SampledThread(int tid, int pid, String name, long samples) {}
