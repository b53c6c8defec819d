package org.mdlagent.runtime.cli.report;

import java.io.IOException;
import java.io.Writer;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.format.ComparisonJson;
import org.mdlagent.profiler.report.format.ComparisonTable;
import org.mdlagent.profiler.report.page.ComparisonPage;
import org.mdlagent.profiler.report.profile.CallTree;
import org.mdlagent.profiler.report.profile.RunProfile;
import org.mdlagent.profiler.report.statistics.Comparison;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Console;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `mdl diff`: compares two runs, and tells by its exit status whether something has become slower.
@Command(
        name = "diff",
        description = "Compare two runs, function by function.",
        customSynopsis = "mdl diff [OPTIONS] [BEFORE [AFTER]]",
        footer = "Exit status 3: a function is slower than --threshold allows, beyond chance.",
        sortOptions = false)
public final class DiffCommand implements Callable<Integer> {
    /// Exit status when something has become slower than is allowed.
    static final int REGRESSION = 3;

    private static final int TABLE_LIMIT = 24;
    private static final double THRESHOLD_MAX = 10_000;

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandContext mdl;

    @Parameters(
            paramLabel = "RUN",
            arity = "0..2",
            description = "Sessions, or the beginnings of build ids that mdl history lists. Without AFTER: the newest;"
                    + " without both: the newest and the one of the same program before it.")
    private List<String> runs = List.of();

    @Option(
            names = "--threshold",
            paramLabel = "PCT",
            description =
                    "Exit with 3 when a function's calls, or its time altogether, take longer by more than so many"
                            + " percent and 10 ns a call, beyond chance, and that costs 0.5 %% of the time that the program ran.")
    private @Nullable Double threshold;

    @Option(names = "--format", paramLabel = "FORMAT", description = "table (the default), json or html.")
    private String format = "table";

    @Option(names = "--limit", paramLabel = "N", description = "Functions to show (table: 24, others: all).")
    private @Nullable Integer limit;

    @Override
    public Integer call() throws IOException {
        Console console = mdl.console();
        checkOptions(console);
        RunSource source = new RunSource(mdl.store(), console);
        RunProfile after = runs.size() < 2 ? source.newest() : source.find(runs.get(1));
        RunProfile before = runs.isEmpty() ? source.before(after.run()) : source.find(runs.get(0));
        if (before.run().cpuTime() != after.run().cpuTime()) {
            throw CommandFailure.failed(
                    "one of the two runs has measured CPU time, the other the time that passed",
                    "record both with --cpu-time, or both without");
        }
        Comparison comparison =
                Comparison.of(before, after, threshold == null ? OptionalDouble.empty() : OptionalDouble.of(threshold));
        write(comparison, after.paths(), console);
        return comparison.regressions().isEmpty() ? 0 : REGRESSION;
    }

    private void checkOptions(Console console) {
        if (!List.of("table", "json", "html").contains(format)) {
            throw CommandFailure.usage("there is no format " + format, "there are table, json and html");
        }
        CommandFailure.check(limit == null || limit >= 0, "--limit=" + limit, "a limit is a number from 0");
        CommandFailure.check(
                threshold == null || threshold >= 0 && threshold <= THRESHOLD_MAX,
                "--threshold=" + threshold,
                "a threshold is a number of percent from 0");
        if (format.equals("html") && console.outIsTerminal()) {
            throw CommandFailure.usage("html is for a browser", "try: mdl diff --format html > comparison.html");
        }
    }

    private void write(Comparison comparison, CallTree paths, Console console) throws IOException {
        int shown = limit != null ? limit : format.equals("table") ? TABLE_LIMIT : Integer.MAX_VALUE;
        Writer text = Console.text(console.out());
        switch (format) {
            case "json" -> ComparisonJson.write(comparison, shown, text);
            case "html" -> ComparisonPage.write(comparison, paths, shown, text);
            default -> new ComparisonTable(shown, console.colour(console.outIsTerminal())).write(comparison, text);
        }
        text.flush();
    }
}
