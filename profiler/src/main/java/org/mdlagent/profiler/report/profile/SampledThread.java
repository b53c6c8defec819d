package org.mdlagent.profiler.report.profile;

/// A thread whose CPU time was sampled.
///
/// @param tid  of the thread, 0 for threads that are not kept apart
/// @param pid  of its process
/// @param name its name when it was sampled, "" if unknown
/// @param samples weighted by the periods that each stands for
public record SampledThread(int tid, int pid, String name, long samples) {}
