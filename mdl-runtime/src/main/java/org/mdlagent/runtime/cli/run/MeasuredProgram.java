package org.mdlagent.runtime.cli.run;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.profile.RunProfile;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.names.DebugNames;
import org.mdlagent.runtime.cli.session.ProgramState;
import org.mdlagent.runtime.cli.session.SessionStore;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Posix;
import org.mdlagent.runtime.options.AgentOptionsText;

/// A program that is run under the agent several times for comparison: without input, and with its output
/// kept away from the terminal.
public final class MeasuredProgram {
    private static final int LINES_SHOWN = 3;

    private final CommandContext mdl;
    private final String name;
    private final List<byte[]> arguments;
    private final AgentOptionsText options;
    private final Path library;

    /// @param name      of the program, as given
    /// @param arguments its name and its arguments
    /// @param options   what to measure in it
    /// @throws CommandFailure when nothing can be measured in it
    public MeasuredProgram(CommandContext mdl, String name, List<byte[]> arguments, AgentOptionsText options)
            throws IOException {
        this.mdl = mdl;
        this.name = name;
        this.arguments = List.copyOf(arguments);
        this.options = options;
        Path found = new Preload(mdl.installation(), mdl.console()).library(name);
        if (found == null) {
            throw CommandFailure.failed(name + " cannot be compared without the agent", "mdl doctor " + name);
        }
        library = found;
    }

    /// Prepares this process to run programs; may re-execute it.
    public static void prepare() throws IOException {
        ChildProcess.prepare();
    }

    /// Runs the program to its end.
    ///
    /// @param session directory for the session
    /// @param output  file for its output
    /// @return what was measured
    /// @throws CommandFailure when it failed, or nothing was measured
    public RunProfile run(Path session, Path output) throws IOException {
        SessionPlace.checkDirectory(session);
        List<String[]> changes =
                Preload.environment(library, SessionPlace.option(session).over(options));
        try (ChildProcess child = new ChildProcess()) {
            child.start(arguments, ChildProcess.environment(Posix.ownEnvironment(), changes), output);
            Posix.Ending ending = child.await();
            Instant ended = Instant.now();
            if (ending.shellStatus() != 0) {
                throw CommandFailure.failed(
                        name
                                + (ending.signal() > 0
                                        ? " was killed by signal " + ending.signal()
                                        : " ended with status " + ending.status())
                                + lastLines(output),
                        "try: mdl run -- " + name + " ...");
            }
            Path recorded = mdl.store().of(child.pid(), child.processStart(), session);
            if (recorded == null) {
                throw nothingMeasured(null);
            }
            return profile(recorded, child.pid(), ending, ended);
        } catch (Posix.SpawnException e) {
            throw CommandFailure.failed(name + " cannot be started: " + e.getMessage(), null);
        }
    }

    private RunProfile profile(Path session, int pid, Posix.Ending ending, Instant ended) throws IOException {
        boolean own;
        try (SessionReader reader = SessionReader.open(session)) {
            own = reader.pid() == pid;
        }
        if (own) {
            ProgramState.recordEnd(session, ending, ended);
        }
        try (SessionReader reader = SessionReader.open(session, DebugNames.present(mdl.console()))) {
            if (!reader.facts().probes().armed()
                    || reader.facts().measuredNanos().orElse(0) <= 0) {
                throw nothingMeasured(session);
            }
            return reader.runProfile();
        }
    }

    private CommandFailure nothingMeasured(@Nullable Path session) {
        return CommandFailure.failed(
                "nothing was measured in " + name,
                session == null
                        ? "mdl doctor " + name + " explains"
                        : "the log of " + SessionStore.name(session) + " may say why: try mdl run -- " + name + " ...");
    }

    private static String lastLines(Path output) throws IOException {
        List<String> lines = Files.readAllLines(output, StandardCharsets.ISO_8859_1);
        List<String> last = lines.subList(Math.max(0, lines.size() - LINES_SHOWN), lines.size());
        return last.isEmpty() ? "" : "; its last words:\n     " + String.join("\n     ", last);
    }
}
