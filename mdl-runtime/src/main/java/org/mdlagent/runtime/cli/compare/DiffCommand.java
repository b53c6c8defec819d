package org.mdlagent.runtime.cli.compare;

import java.io.IOException;
import java.io.Writer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Stack;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.format.ComparisonJson;
import org.mdlagent.profiler.report.format.ComparisonTable;
import org.mdlagent.profiler.report.format.SeriesJson;
import org.mdlagent.profiler.report.format.SeriesTable;
import org.mdlagent.profiler.report.page.ComparisonPage;
import org.mdlagent.profiler.report.profile.CallTree;
import org.mdlagent.profiler.report.profile.RunProfile;
import org.mdlagent.profiler.report.statistics.Comparison;
import org.mdlagent.profiler.report.statistics.SeriesComparison;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.report.RunSource;
import org.mdlagent.runtime.cli.run.MeasureOptions;
import org.mdlagent.runtime.cli.run.MeasuredProgram;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Console;
import org.mdlagent.runtime.cli.terminal.Posix;
import org.mdlagent.runtime.options.AgentOptionsText;
import picocli.CommandLine.Command;
import picocli.CommandLine.IParameterPreprocessor;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/// `mdl diff`: shows how two sessions differ; or runs two builds several times and reports by its exit status
/// whether one is slower.
@Command(
        name = "diff",
        description = "Compare two builds by running both, or show how two sessions differ, function by function.",
        customSynopsis = {
            "mdl diff --runs N [OPTIONS] [--] A ARGS... -- B ARGS...",
            "       mdl diff [OPTIONS] [SESSION [SESSION]]"
        },
        footer = "Exit status 3, with --runs: B is slower than A by more than --threshold and by more"
                + " than runs of one build differ. Equal builds give it at most once in 100 comparisons.",
        sortOptions = false)
public final class DiffCommand implements Callable<Integer> {
    /// Exit status when something has become slower than allowed.
    static final int SLOWER = 3;

    private static final String SEPARATOR = "--";
    private static final int TABLE_LIMIT = 24;
    private static final double THRESHOLD_DEFAULT = 2;
    private static final double THRESHOLD_MAX = 10_000;

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandContext mdl;

    @Parameters(
            paramLabel = "A -- B",
            description = "With --runs, two command lines. Otherwise two sessions, or prefixes of build ids (see"
                    + " mdl history), earlier one first. The later one defaults to the newest session, the"
                    + " earlier one to the session of the same program before it.")
    private List<String> words = List.of();

    @Option(
            names = "--runs",
            paramLabel = "N",
            preprocessor = CommandLinesFollow.class,
            description = "Run both programs N times (5 to 31), in turn, and test which differences exceed those"
                    + " between runs of one build. More runs detect smaller changes. Options go before the"
                    + " programs.")
    private @Nullable Integer runs;

    @Option(
            names = "--threshold",
            paramLabel = "PCT",
            description = "With --runs: ignore changes up to this many percent (2), which code layout alone can"
                    + " cause, and up to 10 ns per call, by which the cost of probes varies.")
    private @Nullable Double threshold;

    @Option(
            names = {"-o", "--session"},
            paramLabel = "DIR",
            description = "With --runs: keep the sessions, as DIR/a-1, DIR/b-1, ...")
    private @Nullable Path kept;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            description = "table (the default) or json; for two sessions also html.")
    private String format = "table";

    @Option(names = "--limit", paramLabel = "N", description = "Functions to show (table: 24, others: all).")
    private @Nullable Integer limit;

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    /// Words after programs belong to them.
    static final class CommandLinesFollow implements IParameterPreprocessor {
        @Override
        public boolean preprocess(
                Stack<String> arguments, CommandSpec command, ArgSpec option, Map<String, Object> info) {
            command.parser().stopAtPositional(true);
            return false;
        }
    }

    /// How many of the last words of the command line belong to the programs to run.
    public int programWords() {
        return runs == null ? 0 : words.size();
    }

    @Override
    public Integer call() throws IOException {
        checkOptions();
        return runs == null ? compareSessions() : compareBuilds(runs);
    }

    private void checkOptions() {
        List<String> formats = runs == null ? List.of("table", "json", "html") : List.of("table", "json");
        if (!formats.contains(format)) {
            throw CommandFailure.usage(
                    "there is no format " + format + (runs == null ? "" : " with --runs"),
                    "there are " + (runs == null ? "table, json and html" : "table and json"));
        }
        CommandFailure.check(limit == null || limit >= 0, "--limit=" + limit, "a limit is a number from 0");
        CommandFailure.check(
                threshold == null || threshold >= 0 && threshold <= THRESHOLD_MAX,
                "--threshold=" + threshold,
                "a threshold is a percentage, 0 or more");
        if (runs == null) {
            if (threshold != null
                    || kept != null
                    || !MeasureOptions.text(spec).toString().isEmpty()) {
                throw CommandFailure.usage(
                        "two sessions are recorded already, and do not show how much runs of one build differ",
                        "try: mdl diff --runs 10 [OPTIONS] A -- B");
            }
            CommandFailure.check(words.size() <= 2, String.join(" ", words), "try: mdl diff EARLIER LATER");
            if (format.equals("html") && mdl.console().outIsTerminal()) {
                throw CommandFailure.usage("html is for a browser", "try: mdl diff --format html > comparison.html");
            }
        } else {
            CommandFailure.check(
                    runs >= SeriesComparison.RUNS_MIN && runs <= SeriesComparison.RUNS_MAX,
                    "--runs=" + runs,
                    "give %d to %d: fewer runs cannot show a difference"
                            .formatted(SeriesComparison.RUNS_MIN, SeriesComparison.RUNS_MAX));
        }
    }

    private int compareSessions() throws IOException {
        RunSource source = new RunSource(mdl.store(), mdl.console());
        RunProfile after = words.size() < 2 ? source.newest() : source.find(words.get(1));
        RunProfile before = words.isEmpty() ? source.before(after.run()) : source.find(words.get(0));
        if (before.run().cpuTime() != after.run().cpuTime()) {
            throw CommandFailure.failed(
                    "one of the two runs measured CPU time, the other elapsed time",
                    "record both with --cpu-time, or both without");
        }
        write(Comparison.of(before, after), after.paths());
        return 0;
    }

    private int compareBuilds(int runs) throws IOException {
        int separator = words.indexOf(SEPARATOR);
        if (separator <= 0 || separator == words.size() - 1) {
            throw CommandFailure.usage(
                    "--runs takes two command lines with -- between",
                    "try: mdl diff --runs 10 ./old ARGS -- ./new ARGS");
        }
        AgentOptionsText given = MeasureOptions.overEnvironment(MeasureOptions.text(spec));
        MeasureOptions.waitByDefault(given);
        MeasureOptions.attend(given, mdl.console());
        MeasureOptions.read(given);
        MeasuredProgram.prepare();
        List<byte[]> arguments = Posix.ownArguments(words.size());
        MeasuredProgram first = new MeasuredProgram(mdl, words.getFirst(), arguments.subList(0, separator), given);
        MeasuredProgram second = new MeasuredProgram(
                mdl, words.get(separator + 1), arguments.subList(separator + 1, words.size()), given);
        RunsInTurn.Series series =
                new RunsInTurn(mdl, first, second, runs, kept == null ? null : kept.toAbsolutePath()).run();
        SeriesComparison comparison =
                SeriesComparison.of(series.before(), series.after(), threshold == null ? THRESHOLD_DEFAULT : threshold);
        write(comparison);
        return comparison.isSlower() ? SLOWER : 0;
    }

    private void write(Comparison comparison, CallTree paths) throws IOException {
        Console console = mdl.console();
        Writer text = Console.text(console.out());
        switch (format) {
            case "json" -> ComparisonJson.write(comparison, shown(), text);
            case "html" -> ComparisonPage.write(comparison, paths, shown(), text);
            default -> new ComparisonTable(shown(), console.colour(console.outIsTerminal())).write(comparison, text);
        }
        text.flush();
    }

    private void write(SeriesComparison comparison) throws IOException {
        Console console = mdl.console();
        Writer text = Console.text(console.out());
        if (format.equals("json")) {
            SeriesJson.write(comparison, shown(), text);
        } else {
            new SeriesTable(shown(), console.colour(console.outIsTerminal())).write(comparison, text);
        }
        text.flush();
    }

    private int shown() {
        return limit != null ? limit : format.equals("table") ? TABLE_LIMIT : Integer.MAX_VALUE;
    }
}
