package org.mdlagent.fastinst;

/// What machine code of the agent records at a probe.
public enum Recorder {
    /// The calls, in the blocks of the threads: [ProbeClient#calls].
    COUNT,
    /// The calls of a function and how long each takes, in the session's profile; needs the probes of its entry and
    /// of all its exits. The profiler attaches it itself, where there is one.
    LATENCY
}
