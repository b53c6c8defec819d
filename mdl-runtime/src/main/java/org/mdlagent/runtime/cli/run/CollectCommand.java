package org.mdlagent.runtime.cli.run;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.KernelEvent;
import org.mdlagent.arch.shim.PerfEvents;
import org.mdlagent.profiler.figures.Collected;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Posix;
import org.mdlagent.runtime.options.AgentOption;
import org.mdlagent.runtime.options.AgentOptionsText;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/// `mdl collect`: collects something else than latency, from a program that it runs or from a running process.
@Command(
        name = "collect",
        description =
                "Collect which functions are called (coverage), how often (counts), how often each basic block of their code"
                        + " runs (blocks), or how often control goes from each to each (arcs): then no call is timed. Or which calls are slow, and why"
                        + " (slow). Or in which functions the kernel's events come, such as page faults (events).",
        customSynopsis = {
            "mdl collect coverage|counts|blocks|arcs|slow|events|latency|FILE [OPTIONS] -- PROGRAM ARGS...",
            "       mdl collect coverage|counts|blocks|arcs|slow|events|latency|FILE [OPTIONS] --pid PID"
        },
        sortOptions = false)
public final class CollectCommand implements Callable<Integer> {
    /// The key of a control file that is not the agent's: the program and its arguments, separated by blanks.
    private static final String APPLICATION = "application";

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandContext mdl;

    @Parameters(
            index = "0",
            paramLabel = "WHAT",
            description =
                    "coverage: whether each function is called; its probe goes off at the first call. counts: every"
                            + " call. blocks: every call, and every run of each basic block. arcs: the same, and every way of control"
                            + " between blocks. latency: as mdl run. slow: the same, and slow calls with what they called and"
                            + " where they waited. events: how often the event of --event came, by function, without"
                            + " probes. Or a control file of lines KEY = VALUE:"
                            + " collect, application, and the keys of MDL_OPTIONS.")
    private String what = "";

    @Parameters(index = "1..*", paramLabel = "PROGRAM ARGS...", description = "What to run.")
    private List<String> program = List.of();

    @Option(
            names = "--pid",
            paramLabel = "PID",
            description = "Collect from this running process instead (mdl attach).")
    private @Nullable Integer pid;

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    /// How many of the command line's last words are the program's: its name, too.
    public int programWords() {
        return program.size();
    }

    @Override
    public Integer call() throws IOException {
        AgentOptionsText file = Collected.named(what) != null ? new AgentOptionsText() : controlFile();
        List<byte[]> application = application(file.remove(APPLICATION));
        List<byte[]> arguments =
                !program.isEmpty() ? Posix.ownArguments(program.size()) : pid != null ? List.of() : application;
        AgentOptionsText given = commandLine().over(file);
        checkEvent(given);
        if (pid != null) {
            CommandFailure.check(arguments.isEmpty(), "a program and --pid", "give one of them");
            return new Attachment(mdl, pid, mdl.console().out()).attach(given);
        }
        if (arguments.isEmpty()) {
            throw CommandFailure.usage(
                    "there is nothing to collect from", "try: mdl collect " + what + " -- PROGRAM, or --pid PID");
        }
        String name = new String(arguments.getFirst(), StandardCharsets.UTF_8);
        return new ProgramRun(mdl, name, null).run(given, arguments);
    }

    /// Nobody looks into the agent's log, so refusals must be found now.
    private static void checkEvent(AgentOptionsText given) {
        String name = given.last(AgentOption.EVENT);
        if (!Collected.EVENTS.key().equals(given.last(AgentOption.COLLECT))) {
            CommandFailure.check(name == null, "--event=" + name, "it is for mdl collect events");
            return;
        }
        KernelEvent event;
        try {
            event = KernelEvent.of(name == null ? AgentOption.EVENT.normal() : name);
        } catch (IllegalArgumentException e) {
            return; // refused with all other options
        }
        int error = Posix.countingError(event.type(), event.number());
        if (error != 0) {
            throw CommandFailure.failed(
                    event.word() + " is not counted: " + PerfEvents.countingRefusal(event, error), null);
        }
    }

    private AgentOptionsText controlFile() throws IOException {
        Path path = Path.of(what);
        if (!Files.exists(path)) {
            throw CommandFailure.usage(
                    "there is no collector and no file " + what,
                    "there are coverage, counts, blocks, arcs, slow, events and latency");
        }
        AgentOptionsText text = AgentOptionsText.load(path);
        if (text.last(AgentOption.COLLECT) == null) {
            throw CommandFailure.usage(what + " does not say what to collect", "a line of it: collect = coverage");
        }
        return text;
    }

    /// @param values of the key, which commas separate
    private static List<byte[]> application(List<String> values) {
        return Arrays.stream(String.join(",", values).split("\\s+"))
                .filter(word -> !word.isEmpty())
                .map(Posix::bytes)
                .toList();
    }

    private AgentOptionsText commandLine() {
        AgentOptionsText text = MeasureOptions.text(spec);
        if (Collected.named(what) != null) {
            text.add(AgentOption.COLLECT, what);
        }
        return text;
    }
}
