package org.mdlagent.runtime.cli.run;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
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
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `mdl run`: runs a program under the agent, transparently for its caller.
@Command(
        name = "run",
        description = "Run a program under the agent. Exit status, stdout and stderr are the program's.",
        customSynopsis = "mdl run [OPTIONS] [--] PROGRAM ARGS...",
        sortOptions = false)
public final class RunCommand implements Callable<Integer> {
    private static final int NOT_FOUND = 127;
    private static final int NOT_EXECUTABLE = 126;

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandContext mdl;

    @Option(
            names = {"-o", "--session"},
            paramLabel = "DIR",
            description = "Record into DIR.")
    private @Nullable String session;

    @Option(
            names = "--no-wait",
            description = "Start main at once. Calls made before the probes are in place are not seen.")
    private boolean noWait;

    @Option(
            names = "--wait",
            description = "Make main wait for the probes: counts are exact from the first call. The default,"
                    + " unless --start-delay or MDL_OPTIONS says otherwise.")
    private boolean await;

    @Option(names = "--no-profile", description = "Do not profile: leave the probes to the program (fastinst.h).")
    private boolean noProfile;

    @Mixin
    private MeasureOptions measure = new MeasureOptions();

    @Option(names = "--mdl", paramLabel = "FILE", description = "Metric definitions in MDL. Repeatable.")
    private List<String> definitions = List.of();

    @Option(
            names = "--metric",
            paramLabel = "M[@FOCUS...]",
            description = "Measure a metric from the start; mdl list metrics lists them. Repeatable.")
    private List<String> metrics = List.of();

    @Option(
            names = "--sync",
            paramLabel = "HOW",
            description = "tmax, membarrier or strict: how multi-step jumps in unmodified code wait.")
    private @Nullable String sync;

    @Option(
            names = "--start-delay",
            paramLabel = "MS",
            description =
                    "Milliseconds from process start to agent start (0; 50 with --no-wait). Implies" + " --no-wait.")
    private @Nullable String startDelay;

    @Option(
            names = "--report",
            arity = "0..1",
            paramLabel = "FORMAT",
            fallbackValue = "table",
            preprocessor = MeasureOptions.ValueOnlyBehindEqualsSign.class,
            description = "Print the report to stderr at the end: table (the default) or json. FORMAT:FILE"
                    + " writes it to a file, in any format of mdl report, for instance html:profile.html.")
    private @Nullable String report;

    @Parameters(paramLabel = "PROGRAM ARGS...", arity = "1..*", description = "What to run.")
    private List<String> program = List.of();

    /// How many of the last words of the command line are the program's, including its name.
    public int programWords() {
        return program.size();
    }

    @Override
    public Integer call() throws IOException {
        Console console = mdl.console();
        AgentOptionsText given = MeasureOptions.overEnvironment(commandLine());
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

        List<byte[]> arguments = Posix.ownArguments(program.size());
        Preload preload = new Preload(mdl.installation(), console);
        Path library = preload.library(program.getFirst());
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
            console.say(
                    program.getFirst() + " cannot be started: " + e.getMessage(), measure.remedy(program.getFirst()));
            return e.notFound() ? NOT_FOUND : NOT_EXECUTABLE;
        }
    }

    private AgentOptionsText commandLine() {
        AgentOptionsText text = measure.text();
        MeasureOptions.addIf(session, AgentOptions.SESSION, text);
        MeasureOptions.addIf(noWait ? "off" : await ? "on" : null, AgentOptions.WAIT, text);
        MeasureOptions.addIf(noProfile ? "off" : null, AgentOptions.PROFILE, text);
        // The program may have changed its directory before the agent reads the files.
        definitions.forEach(value ->
                text.add(AgentOptions.MDL, Path.of(value).toAbsolutePath().toString()));
        metrics.forEach(value -> text.add(AgentOptions.METRIC, value));
        MeasureOptions.addIf(sync, AgentOptions.SYNC, text);
        MeasureOptions.addIf(startDelay, AgentOptions.START_DELAY_MILLIS, text);
        MeasureOptions.addIf(report, AgentOptions.REPORT, text);
        return text;
    }

    /// Nobody watches what a program starts with, so errors must be found now.
    private static void checkMetrics(AgentOptions options) throws IOException {
        if (options.mdl().isEmpty() && options.metrics().isEmpty()) {
            return;
        }
        Definitions known = MetricLibrary.load();
        for (String file : options.mdl()) {
            String text = RegularFile.text(Path.of(file));
            Compilation compilation = Compilation.of(new SourceFile(file, text), known);
            if (!compilation.isCorrect()) {
                throw CommandFailure.usage(file + " has errors", "mdl compile " + file + " shows them");
            }
            known = known.with(compilation.definitions());
        }
        for (String request : options.metrics()) {
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
                        options.await() ? null : "try: mdl run --wait ...; mdl list sessions has that of a daemon");
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
            Unmeasured unmeasured = new Unmeasured(program.getFirst(), reader, console);
            if (probed && !reader.facts().armed()) {
                unmeasured.sayWhy(session, options.await());
            } else if (probed) {
                unmeasured.nameUnknown("--include", options.include());
                unmeasured.nameUnknown("--exact", options.exactFunctions());
                unmeasured.nameUnknown("--counted", options.countedFunctions());
                unmeasured.nameUnknown("--sliced", options.slicedFunctions());
            }
            if (wanted != null) {
                wanted.write(reader, console);
            } else {
                sayWithoutAgent(reader);
            }
            if (options.await()) {
                sayForkedBefore(store, child, session, reader.facts().program());
            }
        }
    }
}
