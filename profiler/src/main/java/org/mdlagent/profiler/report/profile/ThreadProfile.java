package org.mdlagent.profiler.report.profile;

/// What a session knows of a thread that has met a probe.
///
/// @param pid      of its process
/// @param lives    false when it has ended, and its block waits for another
/// @param calls    that were seen, by this thread and those that had its block before: in exact sessions all, in
///     sampled ones those made while probes were on
/// @param cpuNanos CPU time since it met its first probe, as the agent has added it up: in sampled sessions only
public record ThreadProfile(int tid, int pid, boolean lives, long calls, long cpuNanos) {}
