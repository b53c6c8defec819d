package org.mdlagent.runtime.cli.report;

import java.io.IOException;
import java.io.Writer;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.format.HistoryReport;
import org.mdlagent.profiler.report.format.RunTable;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Run;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Console;
import org.mdlagent.runtime.options.FunctionGlob;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `mdl history`: one function over several runs, or a list of runs.
@Command(
        name = "history",
        description = "Show a function over several runs, or list the stored runs.",
        customSynopsis = "mdl history [OPTIONS] [FUNCTION]",
        sortOptions = false)
public final class HistoryCommand implements Callable<Integer> {
    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandContext mdl;

    @Parameters(
            paramLabel = "FUNCTION",
            arity = "0..1",
            description = "A symbol, or a pattern; IMAGE!FUNCTION or FILE:FUNCTION narrows.")
    private @Nullable String function;

    @Option(names = "--program", paramLabel = "GLOB", description = "Only runs of these programs.")
    private String program = "*";

    @Option(names = "--format", paramLabel = "FORMAT", description = "table (the default), json or csv.")
    private String format = "table";

    @Override
    public Integer call() throws IOException {
        if (!List.of("table", "json", "csv").contains(format)) {
            throw CommandFailure.usage("there is no format " + format, "there are table, json and csv");
        }
        Predicate<Run> programs = programs();
        Predicate<FunctionProfile> functions = functions();
        RunSource source = new RunSource(mdl.store(), mdl.console());
        source.takeIn();
        Writer text = Console.text(mdl.console().out());
        if (function == null) {
            if (!format.equals("table")) {
                throw CommandFailure.usage("--format=" + format + " is of a function's history", "name a function");
            }
            List<Run> runs = source.profiles().runs().stream().filter(programs).toList();
            RunTable.write(runs, colour(), text);
        } else {
            write(source.profiles().history(programs, function, functions), text);
        }
        text.flush();
        return 0;
    }

    private void write(List<HistoryReport.Entry> entries, Writer text) throws IOException {
        if (entries.isEmpty()) {
            throw CommandFailure.failed(
                    "no run that is kept has called " + function, "mdl history lists the runs; * and ? mean any text");
        }
        switch (format) {
            case "json" -> new HistoryReport(entries).json(text);
            case "csv" -> new HistoryReport(entries).csv(text);
            default -> {
                for (HistoryReport one : HistoryReport.ofEach(entries)) {
                    one.table(colour(), text);
                }
            }
        }
    }

    private boolean colour() {
        return mdl.console().colour(mdl.console().outIsTerminal());
    }

    private Predicate<Run> programs() {
        try {
            PathMatcher matcher = FileSystems.getDefault().getPathMatcher("glob:" + program);
            return run -> matcher.matches(Path.of(run.program()).getFileName());
        } catch (PatternSyntaxException e) {
            throw CommandFailure.usage("--program=" + program + " is not possible", e.getDescription());
        }
    }

    private Predicate<FunctionProfile> functions() {
        if (function == null) {
            return any -> true;
        }
        try {
            FunctionGlob glob = FunctionGlob.of(function);
            return any -> glob.matches(any.image(), any.file() == null ? "" : any.file(), any.name());
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage(function + " is not possible; " + e.getMessage(), null);
        }
    }
}
