package org.mdlagent.profiler.report.profile;

import java.time.Instant;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/// One process of a session: the one with the agent, or one that was forked.
///
/// @param ended      null while it runs, or when its end was not seen
/// @param exitStatus when it exited by itself; absent when it was killed or has executed another program
/// @param runs       whether it was neither seen to end nor found to be gone
/// @param agent      whether it has the agent
/// @param calls      calls seen: in exact sessions all, in sampled ones those made while probes were on
/// @param departure  why it left the session while alive
public record ProcessProfile(
        int pid,
        int parent,
        Instant started,
        @Nullable Instant ended,
        OptionalInt exitStatus,
        boolean runs,
        boolean agent,
        long calls,
        Departure departure) {

    /// A process that is not known to have left.
    public ProcessProfile(
            int pid,
            int parent,
            Instant started,
            @Nullable Instant ended,
            OptionalInt exitStatus,
            boolean runs,
            boolean agent,
            long calls) {
        this(pid, parent, started, ended, exitStatus, runs, agent, calls, Departure.NONE);
    }

    /// How a live process leaves its session.
    public enum Departure {
        NONE,
        EXECUTED_ANOTHER_PROGRAM,
        GAVE_UP_RIGHTS,
        BEGAN_A_SESSION
    }
}
