package org.mdlagent.profiler.report.profile;

/// A thread that has met a probe.
///
/// @param pid      of its process
/// @param lives    false when it has ended and its block waits for another thread
/// @param calls    calls seen from this thread and from former owners of its block: in exact sessions all, in
///     sampled ones those made while probes were on
/// @param cpuNanos CPU time since it met its first probe, as summed by the agent; sampled sessions only
public record ThreadProfile(int tid, int pid, boolean lives, long calls, long cpuNanos) {}
