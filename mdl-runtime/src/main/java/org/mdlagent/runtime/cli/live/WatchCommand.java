package org.mdlagent.runtime.cli.live;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import org.mdlagent.profiler.report.profile.MetricValue;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.control.EnableCommand;
import org.mdlagent.runtime.cli.session.ProgramState;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Looks;
import org.mdlagent.runtime.metric.FocusGlob;
import org.mdlagent.runtime.metric.MetricRequest;
import org.mdlagent.runtime.options.FunctionGlob;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `mdl watch`: the metrics of a running program, a line per look, or a block of lines if one line is too
/// narrow. It reads the session and does not disturb the program.
@Command(
        name = "watch",
        description = "Watch enabled metrics of a running program.",
        customSynopsis = "mdl watch [OPTIONS] PID|SESSION [METRIC[@FOCUS...]...]",
        sortOptions = false)
public final class WatchCommand implements Callable<Integer> {
    private static final int TIME_WIDTH = 9;

    /// Columns of a line when stdout is not a terminal.
    private static final int LINE_MAX = 160;

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT).withZone(ZoneId.systemDefault());

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandContext mdl;

    @Parameters(index = "0", paramLabel = "PID|SESSION")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String session;

    @Parameters(
            index = "1..*",
            arity = "0..*",
            paramLabel = "METRIC[@FOCUS...]",
            description = "As enabled; a pattern with * or ? selects all matches, also later ones. Default: all"
                    + " enabled metrics.")
    private List<String> requests = List.of();

    @Mixin
    private Looks looks = new Looks();

    @Override
    public Integer call() throws IOException {
        looks.check();
        List<MetricRequest> wanted = EnableCommand.requests(requests);
        Path directory = mdl.store().find(session);
        try (SessionReader reader = SessionReader.open(directory)) {
            watch(reader, wanted);
        }
        return 0;
    }

    /// Ends with the program, or when nobody reads the output any more.
    private void watch(SessionReader reader, List<MetricRequest> wanted) throws IOException {
        PrintStream out = mdl.console().out();
        Map<String, MetricColumn> columns = columns(Map.of(), find(reader.metrics(), wanted));
        printHead(columns.values());
        boolean runs = true;
        for (int look = 0; runs && looks.goOn(look) && !out.checkError(); look++) {
            looks.pause();
            runs = ProgramState.runs(reader.facts());
            List<MetricValue> metrics = find(reader.metrics(), wanted);
            Map<String, MetricColumn> before = columns;
            columns = columns(before, metrics);
            if (!List.copyOf(columns.keySet()).equals(List.copyOf(before.keySet()))) {
                printHead(columns.values());
            }
            for (MetricValue metric : metrics) {
                Objects.requireNonNull(columns.get(metric.request())).add(metric);
            }
            print(columns.values());
        }
    }

    private void print(Collection<MetricColumn> columns) {
        PrintStream out = mdl.console().out();
        String time = " " + TIME.format(Instant.now());
        if (fit(columns)) {
            out.println(time + join(columns, MetricColumn::cell));
        } else {
            out.println(time);
            MetricColumn.lines(columns).forEach(out::println);
        }
    }

    /// Whether all columns fit in a line.
    private boolean fit(Collection<MetricColumn> columns) {
        int width = mdl.console().width(mdl.console().outIsTerminal(), 1);
        return join(columns, MetricColumn::cell).length() + TIME_WIDTH <= (width > 0 ? width : LINE_MAX);
    }

    /// A column for each metric: its existing one, or a new one for a new metric.
    private static Map<String, MetricColumn> columns(Map<String, MetricColumn> before, List<MetricValue> metrics) {
        Map<String, MetricColumn> columns = new LinkedHashMap<>();
        for (MetricValue metric : metrics) {
            MetricColumn column = before.get(metric.request());
            columns.put(metric.request(), column == null ? new MetricColumn(metric) : column);
        }
        return columns;
    }

    private void printHead(Collection<MetricColumn> columns) {
        PrintStream out = mdl.console().out();
        if (!fit(columns)) {
            return; // each line has its own name
        }
        out.println(" time    " + join(columns, MetricColumn::head));
        if (mdl.console().outIsTerminal()) {
            out.println(" so far  " + join(columns, MetricColumn::past));
        }
    }

    private interface Text {
        String of(MetricColumn column);
    }

    private static String join(Collection<MetricColumn> columns, Text text) {
        StringBuilder line = new StringBuilder();
        columns.forEach(column -> line.append("  ").append(text.of(column)));
        return line.toString().stripTrailing();
    }

    /// All metrics if none is named. A pattern for objects that appear later may match none yet.
    private static List<MetricValue> find(List<MetricValue> metrics, List<MetricRequest> wanted) {
        if (wanted.isEmpty()) {
            if (metrics.isEmpty()) {
                throw CommandFailure.failed("no metric is enabled", "mdl enable PID io_wait starts one");
            }
            return metrics;
        }
        Set<MetricValue> found = new LinkedHashSet<>();
        for (MetricRequest request : wanted) {
            List<MetricValue> meant = metrics.stream()
                    .filter(metric -> metric.request().equals(request.toString())
                            || FunctionGlob.matches(request.toString(), metric.request()))
                    .toList();
            if (meant.isEmpty() && !FocusGlob.mayGrow(request.focus())) {
                throw CommandFailure.failed(request + " is not enabled", "mdl enable PID " + request + " starts it");
            }
            found.addAll(meant);
        }
        return List.copyOf(found);
    }
}
