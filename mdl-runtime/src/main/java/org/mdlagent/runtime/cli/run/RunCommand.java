package org.mdlagent.runtime.cli.run;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.terminal.Posix;
import org.mdlagent.runtime.options.AgentOptions;
import org.mdlagent.runtime.options.AgentOptionsText;
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
        String name = program.getFirst();
        return new ProgramRun(mdl, name, measure.remedy(name)).run(commandLine(), Posix.ownArguments(program.size()));
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
}
