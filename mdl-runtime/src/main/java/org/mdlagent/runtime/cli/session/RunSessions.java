package org.mdlagent.runtime.cli.session;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.session.SessionReader;

/// Finds the session of a run's program. A process has several when it executes other programs in its place;
/// and a wrapper such as `timeout`, which executes its program as a child, may have its own as well.
///
/// @param pid   of the process that was started
/// @param start of it, null if unknown
record RunSessions(int pid, SessionFacts.@Nullable ProcessStart start) {
    /// A wrapper ends at most this long after its program, also on a machine with much load.
    private static final Duration WRAPPER_END = Duration.ofSeconds(10);

    private record Recorded(Path session, SessionFacts facts, long forks) {
        Instant started() {
            return facts.started();
        }
    }

    /// Among the session of a directory and those inside it, that of the program that was run; the
    /// directory's own if nothing else is known.
    static Path programOf(Path directory, List<Path> sessions) {
        if (sessions.size() < 2) {
            return directory;
        }
        try (SessionReader reader = SessionReader.open(directory)) {
            SessionFacts facts = reader.facts();
            int wrapper = reader.wrapper();
            RunSessions run =
                    wrapper == 0 ? new RunSessions(facts.pid(), facts.start()) : new RunSessions(wrapper, null);
            return Optional.ofNullable(run.programOf(sessions)).orElse(directory);
        } catch (IOException e) {
            return directory; // damaged, as its reader will report
        }
    }

    /// Null if there is none.
    @Nullable
    Path programOf(List<Path> sessions) {
        List<Recorded> own = new ArrayList<>();
        List<Recorded> waitedFor = new ArrayList<>();
        for (Path session : sessions) {
            try (SessionReader reader = SessionReader.open(session)) {
                Recorded recorded = new Recorded(session, reader.facts(), reader.forks());
                if (isOwn(recorded.facts)) {
                    own.add(recorded);
                } else if (reader.wrapper() == pid && isYounger(recorded.facts)) {
                    waitedFor.add(recorded);
                }
            } catch (IOException e) {
                // not the one: the session of a run that has just ended is readable
            }
        }
        Recorded ofProcess = last(own);
        Recorded ofChild = innermost(waitedFor);
        if (ofProcess == null || ofChild == null) {
            Recorded only = ofProcess == null ? ofChild : ofProcess;
            return only == null ? null : only.session;
        }
        return isNoWrapper(ofProcess, ofChild.facts) ? ofProcess.session : ofChild.session;
    }

    /// The sessions recorded by the process itself.
    List<Path> own(List<Path> sessions) {
        return sessions.stream().filter(this::isOwn).toList();
    }

    private boolean isOwn(Path session) {
        try (SessionReader reader = SessionReader.open(session)) {
            return isOwn(reader.facts());
        } catch (IOException e) {
            return false;
        }
    }

    private static @Nullable Recorded last(List<Recorded> sessions) {
        return sessions.stream().max(Comparator.comparing(Recorded::started)).orElse(null);
    }

    /// Of nested wrappers, those with a session began it after their program had ended.
    private static @Nullable Recorded innermost(List<Recorded> sessions) {
        return sessions.stream()
                .min(Comparator.comparing(Recorded::started))
                .map(first -> last(sessions.stream()
                        .filter(other -> other.facts.pid() == first.facts.pid())
                        .toList()))
                .orElse(null);
    }

    private boolean isOwn(SessionFacts facts) {
        return facts.pid() == pid && (start == null || facts.start().equals(start));
    }

    private boolean isYounger(SessionFacts facts) {
        return start == null
                || (facts.start().boot().equals(start.boot()) && facts.start().ticks() >= start.ticks());
    }

    /// Whether the process did more than wait for that child. The child took it for a wrapper because it had no other
    /// child yet.
    private static boolean isNoWrapper(Recorded own, SessionFacts child) {
        Instant end = child.ended();
        Instant ownEnd = own.facts.ended();
        return own.forks > 1 || (end != null && (ownEnd == null || ownEnd.isAfter(end.plus(WRAPPER_END))));
    }
}
