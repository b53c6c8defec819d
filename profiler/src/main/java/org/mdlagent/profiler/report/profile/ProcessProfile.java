package org.mdlagent.profiler.report.profile;

import java.time.Instant;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/// What a session knows of one of its processes: the one that has the agent, or one that was forked.
///
/// @param ended      null while it runs, or when nobody saw its end
/// @param exitStatus when it exited by itself; absent when it was killed, or has executed another program
/// @param runs       whether it was seen neither to end nor to be gone
/// @param agent      whether it has the agent
/// @param calls      that were seen: in exact sessions all, in sampled ones those made while probes were on
/// @param departure  why it is no process of this session any more, though it lives
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

    /// One that is not known to have left.
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

    /// How a process leaves its session and goes on.
    public enum Departure {
        NONE,
        EXECUTED_ANOTHER_PROGRAM,
        GAVE_UP_RIGHTS,
        BEGAN_A_SESSION
    }
}
