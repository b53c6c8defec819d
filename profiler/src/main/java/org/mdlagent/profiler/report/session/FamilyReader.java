package org.mdlagent.profiler.report.session;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.ProcessDescriptor;
import org.mdlagent.arch.layout.ProcessLife;
import org.mdlagent.profiler.report.file.SessionBytes;
import org.mdlagent.profiler.report.profile.ProcessProfile;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.SessionFacts;

/// Reads the processes of a session.
final class FamilyReader {
    private static final int PROCESSES_MAX = 1 << 16;

    private final SessionBytes bytes;

    FamilyReader(SessionBytes bytes) {
        this.bytes = bytes;
    }

    /// Offsets of the process records, newest first.
    private List<Long> offsets() throws IOException {
        return bytes.list(
                HeaderDescriptor.PROCESSES, ProcessDescriptor.NEXT, ProcessDescriptor.SIZE, PROCESSES_MAX, "processes");
    }

    /// Offsets of the records of processes that have or had an id.
    List<Long> offsetsOf(int pid) throws IOException {
        List<Long> found = new ArrayList<>();
        for (long at : offsets()) {
            if (bytes.getInt(at + ProcessDescriptor.PID) == pid) {
                found.add(at);
            }
        }
        return found;
    }

    /// Calls of a process that are no longer in any thread's block.
    long callsOutsideBlocks(long at) throws IOException {
        return bytes.getCounter(at + ProcessDescriptor.CALLS);
    }

    /// @param callsInBlocks calls in the blocks of each process's threads, by the offset of the process's
    ///     record
    Profile.Family read(SessionFacts facts, Map<Long, Long> callsInBlocks) throws IOException {
        List<ProcessProfile> processes = new ArrayList<>();
        for (long at : offsets()) {
            if (bytes.getLong(at + ProcessDescriptor.STARTED_NANOS) != 0) {
                processes.add(process(at, facts, callsInBlocks.getOrDefault(at, 0L)));
            }
        }
        processes.sort(Comparator.comparing(ProcessProfile::started));
        return new Profile.Family(
                processes,
                bytes.getCounter(HeaderDescriptor.PROCESSES_FORGOTTEN),
                bytes.getCounter(HeaderDescriptor.CALLS_FORGOTTEN));
    }

    private ProcessProfile process(long at, SessionFacts facts, long callsInBlocks) throws IOException {
        int pid = bytes.getInt(at + ProcessDescriptor.PID);
        int parent = bytes.getInt(at + ProcessDescriptor.PARENT);
        long calls = Math.addExact(callsOutsideBlocks(at), callsInBlocks);
        long agents = bytes.getLong(HeaderDescriptor.AGENT_PROCESS);
        boolean apart = bytes.getLong(at + ProcessDescriptor.APART) != 0;
        // For a process that has given up privileges, only the agent can tell that it has ended.
        boolean runs =
                ProcessLife.runs(bytes.getInt(at + ProcessDescriptor.STATE), bytes.getInt(at + ProcessDescriptor.OWNER))
                        && !(apart && facts.ended() != null);
        if (agents != 0 && at == bytes.offset(agents, ProcessDescriptor.SIZE, "a process")) {
            return new ProcessProfile(
                    pid,
                    parent,
                    facts.started(),
                    facts.ended(),
                    facts.process().exitStatus(),
                    runs && facts.ended() == null,
                    true,
                    calls,
                    departure(at));
        }
        long ended = bytes.getLong(at + ProcessDescriptor.ENDED_NANOS);
        int status = bytes.getInt(at + ProcessDescriptor.EXIT_STATUS);
        return new ProcessProfile(
                pid,
                parent,
                Instant.ofEpochSecond(0, bytes.getLong(at + ProcessDescriptor.STARTED_NANOS)),
                ended == 0 ? null : Instant.ofEpochSecond(0, ended),
                status < 0 ? OptionalInt.empty() : OptionalInt.of(status),
                runs,
                false,
                calls,
                departure(at));
    }

    private ProcessProfile.Departure departure(long at) throws IOException {
        int flags = bytes.getInt(at + ProcessDescriptor.FLAGS);
        if ((flags & ProcessDescriptor.FLAG_EXECUTED) != 0) {
            return ProcessProfile.Departure.EXECUTED_ANOTHER_PROGRAM;
        }
        if ((flags & ProcessDescriptor.FLAG_OWN_SESSION) != 0) {
            return ProcessProfile.Departure.BEGAN_A_SESSION;
        }
        return (flags & ProcessDescriptor.FLAG_APART) != 0
                ? ProcessProfile.Departure.GAVE_UP_RIGHTS
                : ProcessProfile.Departure.NONE;
    }
}
