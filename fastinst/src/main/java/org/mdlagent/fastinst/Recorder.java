package org.mdlagent.fastinst;

/// What the agent's machine code records at a probe.
public enum Recorder {
    /// Calls, in the threads' blocks: [ProbeClient#calls].
    COUNT,
    /// The calls of a function and their durations, in the session's profile; needs the probes of its entry
    /// and of all its exits. The profiler, if there is one, attaches it itself.
    LATENCY
}
