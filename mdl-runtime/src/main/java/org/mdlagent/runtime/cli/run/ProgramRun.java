package org.mdlagent.runtime.cli.run;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.format.ProfileNotes;
import org.mdlagent.profiler.report.profile.ProcessProfile;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.control.EnableCommand;
import org.mdlagent.runtime.cli.names.DebugNames;
import org.mdlagent.runtime.cli.session.ProgramState;
import org.mdlagent.runtime.cli.session.SessionStore;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Console;
import org.mdlagent.runtime.cli.terminal.Posix;
import org.mdlagent.runtime.mdl.Compilation;
import org.mdlagent.runtime.mdl.Definitions;
import org.mdlagent.runtime.mdl.MetricLibrary;
import org.mdlagent.runtime.mdl.syntax.SourceFile;
import org.mdlagent.runtime.mdl.syntax.Spelling;
import org.mdlagent.runtime.options.AgentOptions;
import org.mdlagent.runtime.options.AgentOptionsText;
import org.mdlagent.runtime.options.RegularFile;

/// Runs a program under the agent, and is to its caller what the program would be.
final class ProgramRun {
    private static final int NOT_FOUND = 127;
    private static final int NOT_EXECUTABLE = 126;

    private final CommandContext mdl;
    private final String program;
    private final @Nullable String remedy;

    /// @param program its name, as it was given
    /// @param remedy  what to do if there is no such program
    ProgramRun(CommandContext mdl, String program, @Nullable String remedy) {
        this.mdl = mdl;
        this.program = program;
        this.remedy = remedy;
    }

    /// Runs the program to its end.
    ///
    /// @param commandLine what is measured
    /// @param arguments   the program's name and what it is given
    /// @return the exit status
    int run(AgentOptionsText commandLine, List<byte[]> arguments) throws IOException {
        Console console = mdl.console();
        AgentOptionsText given = MeasureOptions.overEnvironment(commandLine);
        MeasureOptions.waitByDefault(given);
        MeasureOptions.attend(given, console);
        AgentOptions options = MeasureOptions.read(given);
        checkMetrics(options);
        RunReport wanted = RunReport.of(options.report());
        SessionStore store = mdl.store();
        Path directory = options.session() == null
                ? null
                : Path.of(options.session()).toAbsolutePath().normalize();
        if (directory == null) {
            SessionPlace.checkRoot(store, console);
        } else {
            SessionPlace.checkDirectory(directory);
            given = SessionPlace.option(directory).over(given);
        }
        ChildProcess.prepare();

        Preload preload = new Preload(mdl.installation(), console);
        Path library = preload.library(program);
        List<String[]> changes = library == null ? List.of() : Preload.environment(library, given);
        try (ChildProcess child = new ChildProcess()) {
            child.start(arguments, ChildProcess.environment(Posix.ownEnvironment(), changes), null);
            Posix.Ending ending = child.await();
            Instant ended = Instant.now();
            if (!changes.isEmpty()) {
                try {
                    finish(store, child, directory, ending, ended, options, wanted, preload.isProbed());
                    store.reclaim();
                } catch (IOException | CommandFailure e) {
                    console.say(String.valueOf(e.getMessage()), null);
                } catch (RuntimeException e) {
                    // A defect of the report must not replace the program's exit status.
                    console.say("the session cannot be reported: " + e, "mdl report shows it again");
                }
            }
            return ending.shellStatus();
        } catch (Posix.SpawnException e) {
            console.say(program + " cannot be started: " + e.getMessage(), remedy);
            return e.notFound() ? NOT_FOUND : NOT_EXECUTABLE;
        }
    }

    /// Nobody watches what a program starts with, so errors must be found now.
    private static void checkMetrics(AgentOptions options) throws IOException {
        if (options.metrics().isEmpty()) {
            return;
        }
        Definitions known = MetricLibrary.load();
        for (String file : options.metrics().files()) {
            String text = RegularFile.text(Path.of(file));
            Compilation compilation = Compilation.of(new SourceFile(file, text), known);
            if (!compilation.isCorrect()) {
                throw CommandFailure.usage(file + " has errors", "mdl compile " + file + " shows them");
            }
            known = known.with(compilation.definitions());
        }
        for (String request : options.metrics().requests()) {
            String metric = EnableCommand.request(request).metric();
            if (!known.metrics().containsKey(metric)) {
                String hint = Spelling.hint(metric, known.metrics().keySet());
                throw CommandFailure.usage(
                        "no metric " + metric + (hint == null ? "" : "; " + hint), "mdl list metrics");
            }
        }
    }

    /// Not that of a program that the child has executed and waited for.
    private static boolean isOf(ChildProcess child, Path session) throws IOException {
        try (SessionReader reader = SessionReader.open(session)) {
            return reader.pid() == child.pid();
        }
    }

    /// A daemon's parent has the agent if it has waited for the probes, and ends.
    private void sayWithoutAgent(SessionReader reader) throws IOException {
        String withoutAgent =
                ProfileNotes.withoutAgent(reader.profile(function -> false).family());
        if (withoutAgent != null) {
            mdl.console().say(withoutAgent, "try: mdl run --no-wait ...: then the daemon has the agent");
        }
    }

    /// Reports children of a master that re-executed itself after forking, as haproxy's does.
    private void sayForkedBefore(SessionStore store, ChildProcess child, Path session, String executed)
            throws IOException {
        for (Path earlier : store.before(child.pid(), child.processStart(), session)) {
            try (SessionReader reader = SessionReader.open(earlier)) {
                Profile profile = reader.profile(function -> false);
                List<String> forked = profile.family().processes().stream()
                        .filter(process -> process.pid() != child.pid() && isLeft(process, profile.session()))
                        .map(process -> String.valueOf(process.pid()))
                        .toList();
                if (!forked.isEmpty() && profile.session().program().equals(executed)) {
                    mdl.console()
                            .say(
                                    "the program re-executed itself: children forked before have no probes (process "
                                            + String.join(", ", forked) + ")",
                                    "try: mdl run --no-wait ...: then a worker that is forked at once has a session of its"
                                            + " own, which mdl list sessions shows");
                }
            }
        }
    }

    /// Whether a process without the agent went on when its session ended.
    private static boolean isLeft(ProcessProfile process, SessionFacts session) {
        Instant ended = process.ended();
        return !process.agent()
                && (process.departure() == ProcessProfile.Departure.GAVE_UP_RIGHTS
                        || process.departure() == ProcessProfile.Departure.NONE
                                && (ended == null || session.ended() == null || ended.isAfter(session.ended())));
    }

    private void finish(
            SessionStore store,
            ChildProcess child,
            @Nullable Path directory,
            Posix.Ending ending,
            Instant ended,
            AgentOptions options,
            @Nullable RunReport wanted,
            boolean probed)
            throws IOException {
        Console console = mdl.console();
        Path session = store.of(child.pid(), child.processStart(), directory);
        if (session == null) {
            if (wanted != null || probed) {
                console.say(
                        "there is no session: the program ended before the agent had started",
                        options.start().await()
                                ? null
                                : "try: mdl run --wait ...; mdl list sessions has that of a daemon");
            }
            return;
        }
        if (isOf(child, session)) {
            ProgramState.recordEnd(session, ending, ended);
        }
        if (directory != null) {
            store.remember(session);
        }
        try (SessionReader reader = SessionReader.open(session, DebugNames.present(console))) {
            Unmeasured unmeasured = new Unmeasured(program, reader, console);
            if (probed && !reader.facts().probes().armed()) {
                unmeasured.sayWhy(session, options.start().await());
            } else if (probed) {
                unmeasured.nameUnknown("--include", options.functions().include());
                unmeasured.nameUnknown("--exact", options.recording().all());
                unmeasured.nameUnknown("--counted", options.recording().counted());
                unmeasured.nameUnknown("--sliced", options.recording().sliced());
            }
            if (wanted != null) {
                wanted.write(reader, console);
            } else {
                sayWithoutAgent(reader);
            }
            if (options.start().await()) {
                sayForkedBefore(store, child, session, reader.facts().program());
            }
        }
    }
}
