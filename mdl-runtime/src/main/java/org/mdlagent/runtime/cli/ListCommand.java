package org.mdlagent.runtime.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.FunctionProfile;
import org.mdlagent.profiler.report.ProbeSite;
import org.mdlagent.profiler.report.ProfileOrder;
import org.mdlagent.profiler.report.SessionFacts;
import org.mdlagent.profiler.report.SessionFormatException;
import org.mdlagent.profiler.report.SessionReader;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `mdl list`: sessions, and what a session knows of its program's functions and probes.
@Command(
        name = "list",
        description = "List sessions, or a session's functions or probes.",
        customSynopsis = "mdl list [sessions|functions|probes] [PID|SESSION]")
final class ListCommand implements Callable<Integer> {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss", Locale.ROOT).withZone(ZoneId.systemDefault());

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private Mdl mdl;

    @Parameters(index = "0", arity = "0..1", paramLabel = "WHAT", description = "sessions, functions or probes.")
    private String what = "sessions";

    @Parameters(index = "1", arity = "0..1", paramLabel = "PID|SESSION", description = "Without: the newest.")
    private @Nullable String session;

    @Override
    public Integer call() throws IOException {
        switch (what) {
            case "sessions" -> sessions();
            case "functions" -> functions();
            case "probes" -> probes();
            case "metrics", "points" ->
                throw CommandFailure.usage(
                        "mdl list " + what + " is not in this version yet", "there are sessions, functions and probes");
            default ->
                throw CommandFailure.usage("mdl does not list " + what, "there are sessions, functions and probes");
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
                session == null ? mdl.store().all() : List.of(mdl.store().find(session))) {
            try {
                SessionStore.settle(directory);
                try (SessionReader reader = SessionReader.open(directory)) {
                    SessionFacts facts = reader.facts();
                    rows.add(List.of(
                            SessionStore.name(directory),
                            Integer.toString(facts.pid()),
                            time(facts.started()),
                            state(facts),
                            facts.program()));
                }
            } catch (SessionFormatException e) {
                rows.add(List.of(SessionStore.name(directory), "-", "-", e.what(), "-"));
            }
        }
        print(rows);
    }

    static String state(SessionFacts facts) {
        if (SessionStore.runs(facts)) {
            return facts.state() == SessionFacts.State.AGENT_DEAD ? "runs, agent failed" : "runs";
        }
        int signal = facts.exitSignal().orElse(0);
        if (signal > 0) {
            return "killed by " + signal;
        }
        return facts.exitStatus().isPresent() ? "exit " + facts.exitStatus().getAsInt() : "ended";
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
            for (ProbeSite site : reader.sites()) {
                rows.add(List.of(
                        "0x" + Long.toHexString(site.address()),
                        site.kind().name().toLowerCase(Locale.ROOT).replace('_', ' '),
                        site.image(),
                        site.function().isEmpty() ? "-" : site.function()));
            }
            print(rows);
        }
    }

    private SessionReader open() throws IOException {
        Path directory = mdl.store().find(session);
        SessionStore.settle(directory);
        return SessionReader.open(directory);
    }

    private static String time(Instant instant) {
        return TIME.format(instant);
    }

    /// Columns as wide as their widest cell; the last ends where it ends.
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
                String cell = row.get(i).replaceAll("\\p{Cntrl}", "?");
                line.append(i == 0 ? "" : "  ").append(cell);
                if (i < columns - 1) {
                    line.append(" ".repeat(widths[i] - cell.length()));
                }
            }
            mdl.console().out().println(line);
        }
    }
}
