package org.mdlagent.runtime.cli.report;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.figures.Collected;
import org.mdlagent.profiler.report.profile.Run;
import org.mdlagent.profiler.report.profile.RunProfile;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.cli.session.ProgramState;
import org.mdlagent.runtime.cli.session.SessionStore;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Console;
import org.mdlagent.runtime.store.ProfileStore;

/// Finds runs to compare: sessions on this machine, and the store of profiles, which keeps runs after their
/// sessions are gone.
public final class RunSource {
    private final SessionStore sessions;
    private final ProfileStore profiles;
    private final Console console;

    public RunSource(SessionStore sessions, Console console) {
        this.sessions = sessions;
        this.console = console;
        profiles = new ProfileStore(sessions.root().resolveSibling("store"));
    }

    ProfileStore profiles() {
        return profiles;
    }

    /// Adds the sessions of ended programs to the store. `mdl run` does not do this, because it would delay
    /// its end by most of a second; sessions remain until the user removes them.
    void takeIn() throws IOException {
        List<ProfileStore.Candidate> candidates = new ArrayList<>();
        int unreadable = 0;
        for (Path session : sessions.all()) {
            try (SessionReader reader = SessionReader.open(session)) {
                SessionFacts facts = reader.facts();
                if (facts.probes().armed() && facts.collected().isTimed() && !ProgramState.runs(facts)) {
                    candidates.add(new ProfileStore.Candidate(Run.of(facts), () -> read(session)));
                }
            } catch (IOException e) {
                unreadable++;
            }
        }
        if (unreadable > 0) {
            console.say(counted(unreadable, "session", "sessions") + " cannot be read", "mdl list sessions says why");
        }
        tell(profiles.add(candidates));
    }

    private void tell(ProfileStore.Addition addition) {
        for (String writer : addition.killedWriters()) {
            console.say(
                    "process " + writer + " was stopped while it took sessions in; nothing of them was kept, what had"
                            + " been there before is whole",
                    null);
        }
        if (addition.taken() > 0) {
            console.say(counted(addition.taken(), "session", "sessions") + " taken in", null);
        }
        if (addition.dropped() > 0) {
            console.say(counted(addition.dropped(), "older run", "older runs") + " dropped for lack of room", null);
        }
        if (addition.cut() > 0) {
            console.say(counted(addition.cut(), "function", "functions") + " with the least time left out", null);
        }
    }

    private static String counted(long number, String one, String many) {
        return number + " " + (number == 1 ? one : many);
    }

    private static RunProfile read(Path session) throws IOException {
        try (SessionReader reader = SessionReader.open(session)) {
            if (reader.facts().collected() == Collected.COVERAGE) {
                throw CommandFailure.usage(
                        SessionStore.name(session)
                                + ": a coverage session does not know how often functions were called",
                        "mdl report --format lcov of each session, and lcov or genhtml, compare coverage");
            }
            if (!reader.facts().collected().hasProbes()) {
                throw CommandFailure.usage(
                        SessionStore.name(session) + ": a session of events knows no calls", "mdl report shows it");
            }
            return reader.runProfile();
        }
    }

    /// The run that the user means: a session, as in all commands; or a prefix of a run's name in the store;
    /// or a prefix of a build id there, for its newest run.
    public RunProfile find(String wanted) throws IOException {
        Path session;
        try {
            session = sessions.find(wanted);
        } catch (CommandFailure e) {
            RunProfile kept = kept(wanted);
            if (kept == null) {
                throw CommandFailure.failed("there is no session and no build " + wanted, "mdl history lists the runs");
            }
            return kept;
        }
        return read(session);
    }

    private @Nullable RunProfile kept(String wanted) throws IOException {
        for (Run run : profiles.runs()) {
            if (run.id().startsWith(wanted)
                    || run.builds().values().stream().anyMatch(build -> build.startsWith(wanted))) {
                return profiles.profile(run.id());
            }
        }
        return null;
    }

    /// The newest run.
    public RunProfile newest() throws IOException {
        return read(sessions.find(null));
    }

    /// The newest run of the same program that began before another.
    public RunProfile before(Run after) throws IOException {
        for (Path session : sessions.all()) {
            try (SessionReader reader = SessionReader.open(session)) {
                SessionFacts facts = reader.facts();
                if (facts.program().equals(after.program())
                        && facts.collected() != Collected.COVERAGE
                        && facts.collected().hasProbes()
                        && facts.started().isBefore(after.started())) {
                    return reader.runProfile();
                }
            } catch (IOException e) {
                // a damaged session, which is not reported here
            }
        }
        throw CommandFailure.failed(
                "there is one session only of " + after.program(), "run the program again, or name two sessions");
    }
}
