package org.mdlagent.runtime.cli.run;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Stack;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
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
import picocli.CommandLine.IParameterPreprocessor;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `mdl run`: runs a program under the agent, and is to its caller what the program would be.
@Command(
        name = "run",
        description = "Run a program under the agent. Exit status, stdout and stderr are the program's.",
        customSynopsis = "mdl run [OPTIONS] [--] PROGRAM ARGS...",
        sortOptions = false)
public final class RunCommand implements Callable<Integer> {
    /// For who waits for an answer at a terminal.
    private static final String ATTENDED_BUDGET_PERCENT = "5";

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

    @Option(names = "--wait", description = "Let main wait for the probes: counts are exact from the first call.")
    private boolean await;

    @Option(names = "--no-profile", description = "Leave the probes to the program (fastinst.h).")
    private boolean noProfile;

    @Option(
            names = "--exact",
            arity = "0..1",
            paramLabel = "GLOB",
            fallbackValue = "on",
            preprocessor = ValueOnlyBehindEqualsSign.class,
            description = "Record every call, not a sample; or every call of these functions, and a sample of the "
                    + "others. Repeatable.")
    private List<String> exact = List.of();

    @Option(
            names = "--counted",
            paramLabel = "GLOB",
            description = "Count every call of these functions, and time some by chance. Repeatable.")
    private List<String> counted = List.of();

    @Option(
            names = "--windowed",
            paramLabel = "GLOB",
            description = "Look at calls of these functions only now and then, however few there are. Repeatable.")
    private List<String> windowed = List.of();

    @Option(names = "--counted-mean", paramLabel = "N", description = "Of how many of their calls one is timed (100).")
    private @Nullable String countedMean;

    @Option(names = "--cpu-time", description = "Measure the CPU time of the calling thread, not the time that passes.")
    private boolean cpuTime;

    @Option(
            names = "--budget",
            paramLabel = "PCT",
            description = "CPU time for probes and agent, in percent (1; 5 where stderr is a terminal).")
    private @Nullable String budget;

    @Option(
            names = "--include",
            paramLabel = "GLOB",
            description = "Functions to probe; IMAGE!FUNCTION or FILE:FUNCTION narrows. Repeatable.")
    private List<String> include = List.of();

    @Option(names = "--exclude", paramLabel = "GLOB", description = "Functions not to probe. Repeatable.")
    private List<String> exclude = List.of();

    @Option(names = "--mdl", paramLabel = "FILE", description = "Metric definitions in MDL. Repeatable.")
    private List<String> definitions = List.of();

    @Option(
            names = "--metric",
            paramLabel = "M[@FOCUS...]",
            description = "Measure it from the start; mdl list metrics shows those there are. Repeatable.")
    private List<String> metrics = List.of();

    @Option(
            names = "--library-functions",
            paramLabel = "N",
            description = "Room for functions of libraries that are opened later (4096).")
    private @Nullable String libraryFunctions;

    @Option(
            names = "--sync",
            paramLabel = "HOW",
            description = "tmax, membarrier or strict. Of no effect yet: for probes in unmodified code.")
    private @Nullable String sync;

    @Option(
            names = "--start-delay",
            paramLabel = "MS",
            description = "Life of the process before the agent starts (50; 0 with --wait).")
    private @Nullable String startDelay;

    @Option(
            names = "--children",
            paramLabel = "WHICH",
            description = "Programs that it executes and that get an agent, too: none, probed (those with probes when"
                    + " they start, the default) or all.")
    private @Nullable String children;

    @Option(
            names = "--report",
            arity = "0..1",
            paramLabel = "FORMAT",
            fallbackValue = "table",
            preprocessor = ValueOnlyBehindEqualsSign.class,
            description =
                    "Print the report to stderr in the end: table (the default) or json; FORMAT:FILE writes it to a"
                            + " file, in any format of mdl report, for instance html:profile.html.")
    private @Nullable String report;

    @Parameters(paramLabel = "PROGRAM ARGS...", arity = "1..*", description = "What to run.")
    private List<String> program = List.of();

    /// `--report PROGRAM` runs PROGRAM: a value is only what is attached to the option.
    static final class ValueOnlyBehindEqualsSign implements IParameterPreprocessor {
        @Override
        public boolean preprocess(
                Stack<String> arguments, CommandSpec command, ArgSpec option, Map<String, Object> info) {
            if (!"=".equals(info.get("separator"))) {
                arguments.push(((OptionSpec) option).fallbackValue());
            }
            return false;
        }
    }

    /// How many of the command line's last words are the program's: its name, too.
    public int programWords() {
        return program.size();
    }

    @Override
    public Integer call() throws IOException {
        Console console = mdl.console();
        AgentOptionsText given =
                commandLine().over(AgentOptionsText.parse(System.getenv().getOrDefault("MDL_OPTIONS", "")));
        if (console.errIsTerminal() && read(given).asked().last(AgentOptions.BUDGET_PERCENT) == null) {
            given.add(AgentOptions.BUDGET_PERCENT, ATTENDED_BUDGET_PERCENT);
        }
        AgentOptions options = validated(given);
        RunReport wanted = RunReport.of(options.report());
        SessionStore store = mdl.store();
        Path directory = options.session() == null
                ? null
                : Path.of(options.session()).toAbsolutePath().normalize();
        if (directory == null) {
            SessionPlace.checkRoot(store, console);
        } else {
            SessionPlace.checkDirectory(directory);
            given = absolute(directory).over(given);
        }
        ChildProcess.prepare();

        List<byte[]> arguments = Posix.ownArguments(program.size());
        List<String[]> changes = new ArrayList<>();
        Preload preload = new Preload(mdl.installation(), console);
        Path library = preload.library(program.getFirst());
        if (library != null) {
            changes.add(new String[] {"MDL_OPTIONS", given.toString()});
            changes.add(new String[] {"LD_PRELOAD", Preload.variable(library)});
        }
        try (ChildProcess child = new ChildProcess()) {
            child.start(arguments, ChildProcess.environment(Posix.ownEnvironment(), changes));
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
            console.say(program.getFirst() + " cannot be started: " + e.getMessage(), null);
            return e.notFound() ? NOT_FOUND : NOT_EXECUTABLE;
        }
    }

    private AgentOptionsText commandLine() {
        AgentOptionsText text = new AgentOptionsText();
        addIf(session, AgentOptions.SESSION, text);
        addIf(await ? "on" : null, AgentOptions.WAIT, text);
        addIf(noProfile ? "off" : null, AgentOptions.PROFILE, text);
        exact.forEach(value -> text.add(AgentOptions.EXACT, value));
        counted.forEach(value -> text.add(AgentOptions.COUNTED, value));
        windowed.forEach(value -> text.add(AgentOptions.WINDOWED, value));
        addIf(countedMean, AgentOptions.COUNTED_MEAN, text);
        addIf(cpuTime ? "cpu" : null, AgentOptions.TIME, text);
        addIf(budget, AgentOptions.BUDGET_PERCENT, text);
        include.forEach(value -> text.add(AgentOptions.INCLUDE, value));
        exclude.forEach(value -> text.add(AgentOptions.EXCLUDE, value));
        // The program may be elsewhere by the time that the agent reads them.
        definitions.forEach(value ->
                text.add(AgentOptions.MDL, Path.of(value).toAbsolutePath().toString()));
        metrics.forEach(value -> text.add(AgentOptions.METRIC, value));
        addIf(sync, AgentOptions.SYNC, text);
        addIf(libraryFunctions, AgentOptions.LIBRARY_FUNCTIONS, text);
        addIf(startDelay, AgentOptions.START_DELAY_MILLIS, text);
        addIf(children, AgentOptions.CHILDREN, text);
        addIf(report, AgentOptions.REPORT, text);
        return text;
    }

    private static void addIf(@Nullable String value, String key, AgentOptionsText text) {
        if (value != null) {
            text.add(key, value);
        }
    }

    private static AgentOptions.Reading read(AgentOptionsText given) {
        return AgentOptions.read(given, System.getenv("MDL_CONFIG"), System.getenv("HOME"));
    }

    private static AgentOptions validated(AgentOptionsText given) throws IOException {
        AgentOptions.Reading reading = read(given);
        if (!reading.problems().isEmpty()) {
            throw CommandFailure.usage(String.join("\nmdl: ", reading.problems()), null);
        }
        AgentOptions options = reading.options();
        checkMetrics(options);
        return options;
    }

    /// What a program starts with is not looked at by anybody, so it must be right.
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

    private static AgentOptionsText absolute(Path directory) {
        AgentOptionsText text = new AgentOptionsText();
        String path = directory.toString();
        // Blanks around a value are no part of it.
        text.add(AgentOptions.SESSION, path.equals(path.strip()) ? path : path + "/");
        return text;
    }

    /// And not of what the child has executed and waited for.
    private static boolean isOf(ChildProcess child, Path session) throws IOException {
        try (SessionReader reader = SessionReader.open(session)) {
            return reader.pid() == child.pid();
        }
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
                        "try: mdl run --wait ...");
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
                unmeasured.sayWhy(session);
            } else if (probed) {
                unmeasured.nameUnknown("--include", options.include());
                unmeasured.nameUnknown("--exact", options.exactFunctions());
                unmeasured.nameUnknown("--counted", options.countedFunctions());
                unmeasured.nameUnknown("--windowed", options.windowedFunctions());
            }
            if (wanted != null) {
                wanted.write(reader, console);
            }
        }
    }
}
