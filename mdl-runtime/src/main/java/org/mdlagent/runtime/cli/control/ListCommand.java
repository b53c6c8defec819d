package org.mdlagent.runtime.cli.control;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.file.SessionFormatException;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.MetricValue;
import org.mdlagent.profiler.report.profile.ProfileOrder;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.profile.SiteProfile;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.profiler.text.ForeignText;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.names.DebugNames;
import org.mdlagent.runtime.cli.session.ControlClient;
import org.mdlagent.runtime.cli.session.ProgramState;
import org.mdlagent.runtime.cli.session.SessionStore;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.mdl.Metric;
import org.mdlagent.runtime.mdl.MetricLibrary;
import org.mdlagent.runtime.mdl.syntax.Spelling;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `mdl list`: sessions; functions, probes and resources of a program; and metrics.
@Command(
        name = "list",
        description = "List sessions, a session's functions or probes, metrics, the points where they"
                + " measure, or resources.",
        customSynopsis = {
            "mdl list [sessions|functions|probes|metrics|points|resources] [PID|SESSION] [GLOB]",
            "mdl list metrics --source NAME"
        })
public final class ListCommand implements Callable<Integer> {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss", Locale.ROOT).withZone(ZoneId.systemDefault());

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandContext mdl;

    @Option(
            names = "--source",
            paramLabel = "NAME",
            description = "With metrics: print the MDL of a metric, constraint or list that ships with the agent.")
    private @Nullable String source;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "WHAT",
            description = "sessions, functions, probes, metrics, points or resources.")
    private String what = "sessions";

    @Parameters(index = "1", arity = "0..1", paramLabel = "PID|SESSION", description = "Default: the newest.")
    private @Nullable String session;

    @Parameters(
            index = "2",
            arity = "0..1",
            paramLabel = "GLOB",
            description =
                    "For resources: a path and everything below it, or a pattern with * and ?, as in a" + " focus.")
    private @Nullable String glob;

    @Override
    public Integer call() throws IOException {
        CommandFailure.check(
                glob == null || what.equals("resources"), "a pattern for " + what, "mdl list resources has one");
        CommandFailure.check(
                source == null || what.equals("metrics"),
                "--source of " + what,
                "try: mdl list metrics --source io_ops");
        switch (what) {
            case "sessions" -> sessions();
            case "functions" -> functions();
            case "probes" -> probes();
            case "metrics" -> metrics();
            case "points" -> points();
            case "resources" -> resources();
            default ->
                throw CommandFailure.usage(
                        "mdl does not list " + what,
                        "there are sessions, functions, probes, metrics, points and resources");
        }
        return 0;
    }

    private void sessions() throws IOException {
        if (session == null) {
            try {
                mdl.store().reclaim();
            } catch (IOException e) {
                mdl.console().say("a session stays in shared memory: " + e.getMessage(), null);
            }
        }
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("SESSION", "PID", "STARTED", "STATE", "PROGRAM"));
        for (Path directory :
                session == null ? mdl.store().all() : List.of(mdl.store().findSettled(session, mdl.console()))) {
            try {
                try (SessionReader reader = SessionReader.open(directory)) {
                    SessionFacts facts = reader.facts();
                    rows.add(List.of(
                            SessionStore.name(directory),
                            Integer.toString(facts.pid()),
                            time(facts.started()),
                            ProgramState.describe(facts),
                            facts.program()));
                }
            } catch (SessionFormatException e) {
                rows.add(List.of(SessionStore.name(directory), "-", "-", e.what(), "-"));
            } catch (IOException e) {
                rows.add(List.of(SessionStore.name(directory), "-", "-", "cannot be read: " + e.getMessage(), "-"));
            }
        }
        print(rows);
    }

    private void functions() throws IOException {
        try (SessionReader reader = open()) {
            List<List<String>> rows = new ArrayList<>();
            rows.add(List.of("CALLS", "IMAGE", "SOURCE", "FUNCTION"));
            for (FunctionProfile function :
                    ProfileOrder.NAME.sort(reader.profile().functions())) {
                String file = function.file();
                rows.add(List.of(
                        (function.callsExact() ? "" : "~") + function.calls(),
                        function.image(),
                        file == null ? "-" : function.line() > 0 ? file + ":" + function.line() : file,
                        function.name()));
            }
            print(rows);
        }
    }

    private void probes() throws IOException {
        try (SessionReader reader = open()) {
            List<List<String>> rows = new ArrayList<>();
            rows.add(List.of("ADDRESS", "KIND", "IMAGE", "FUNCTION"));
            for (SiteProfile site : reader.sites()) {
                rows.add(List.of(
                        "0x" + Long.toHexString(site.address()),
                        site.kind().name().toLowerCase(Locale.ROOT).replace('_', ' '),
                        site.image(),
                        site.function().isEmpty() ? "-" : site.function()));
            }
            print(rows);
        }
    }

    /// The metrics of the library, or those that a running program's agent has, with what it measures.
    private void metrics() throws IOException {
        if (source != null) {
            printSource(source);
            return;
        }
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("METRIC", "UNITS", "NAME", "ENABLED FOR"));
        if (session == null) {
            for (Metric metric : MetricLibrary.load().metrics().values()) {
                rows.add(List.of(metric.id(), metric.units(), metric.name(), "-"));
            }
        } else {
            Path directory = mdl.store().find(session);
            List<MetricValue> enabled;
            try (SessionReader reader = SessionReader.open(directory)) {
                enabled = reader.metrics();
            }
            for (String line :
                    ControlClient.ask(directory, "metric list").lines().toList()) {
                String[] metric = line.split("\t", 4);
                String focuses = enabled.stream()
                        .filter(value -> value.id().equals(metric[0]))
                        .map(value -> value.focus().isEmpty() ? "all" : String.join("@", value.focus()))
                        .collect(Collectors.joining(" "));
                rows.add(List.of(metric[0], metric[1], metric[3], focuses.isEmpty() ? "-" : focuses));
            }
        }
        print(rows);
    }

    private void printSource(String name) {
        List<String> lines = MetricLibrary.source(name);
        if (lines.isEmpty()) {
            String hint = Spelling.hint(name, MetricLibrary.load().metrics().keySet());
            throw CommandFailure.usage("no metric " + name + " ships", hint != null ? hint : "mdl list metrics");
        }
        lines.forEach(mdl.console().out()::println);
    }

    private void points() throws IOException {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("METRIC", "ORDER", "POINT", "FUNCTION", "ONLY WHILE"));
        for (String line : askAll("metric points ")) {
            String[] point = line.split("\t", 5);
            rows.add(List.of(point[0], point[1], point[2], point[3], point[4].isEmpty() ? "-" : point[4]));
        }
        print(rows);
    }

    /// The resources that can be chosen for a focus now.
    private void resources() throws IOException {
        ResourceListing listing = ResourceListing.of(glob, askAll("metric resources "));
        listing.print(mdl.console().out(), mdl.console().outIsTerminal());
    }

    /// All lines of a paged answer.
    private List<String> askAll(String request) throws IOException {
        Path directory = mdl.store().find(session);
        List<String> all = new ArrayList<>();
        List<String> part;
        do {
            part = ControlClient.ask(directory, request + all.size()).lines().toList();
            all.addAll(part);
        } while (!part.isEmpty());
        return all;
    }

    private SessionReader open() throws IOException {
        return SessionReader.open(mdl.store().findSettled(session, mdl.console()), DebugNames.fetching(mdl.console()));
    }

    private static String time(Instant instant) {
        return TIME.format(instant);
    }

    /// Columns as wide as their widest cell; the last is not padded.
    private void print(List<List<String>> rows) {
        int columns = rows.getFirst().size();
        int[] widths = new int[columns];
        for (List<String> row : rows) {
            for (int i = 0; i < columns; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < columns; i++) {
                String cell = ForeignText.printable(row.get(i));
                line.append(i == 0 ? "" : "  ").append(cell);
                if (i < columns - 1) {
                    line.append(" ".repeat(widths[i] - cell.length()));
                }
            }
            mdl.console().out().println(line);
        }
    }
}
