package org.mdlagent.runtime.cli.live;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import org.jline.terminal.Size;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.figures.Collected;
import org.mdlagent.profiler.report.format.TableReport;
import org.mdlagent.profiler.report.live.LiveFunction;
import org.mdlagent.profiler.report.live.LiveOrder;
import org.mdlagent.profiler.report.live.LiveProfile;
import org.mdlagent.profiler.report.live.LiveSession;
import org.mdlagent.profiler.report.live.LiveTable;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.ProfileOrder;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.cli.context.AttachOption;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.names.DebugNames;
import org.mdlagent.runtime.cli.report.ThreadNames;
import org.mdlagent.runtime.cli.session.ControlClient;
import org.mdlagent.runtime.cli.session.ProgramState;
import org.mdlagent.runtime.cli.session.SessionStore;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Console;
import org.mdlagent.runtime.cli.terminal.Looks;
import org.mdlagent.runtime.cli.terminal.Posix;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `mdl top`: a live view of a running program's functions. An interactive screen on a terminal, otherwise
/// plain text.
@Command(
        name = "top",
        description = "Show the functions of a running program live.",
        customSynopsis = "mdl top [OPTIONS] [PID|SESSION]",
        sortOptions = false)
public final class TopCommand implements Callable<Integer> {
    private static final int SUMMARY_LIMIT = 10;
    private static final int PLAIN_WIDTH = 120;

    /// The kernel counts CPU time in hundredths of a second.
    private static final long BUSIEST_NANOS = 200_000_000;

    /// Maximum delay until a new terminal size takes effect.
    private static final long KEY_MILLIS = 200;

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandContext mdl;

    @Parameters(paramLabel = "PID|SESSION", arity = "0..1", description = "Default: the busiest running program.")
    private @Nullable String session;

    @Mixin
    private Looks looks = new Looks();

    @Option(names = "--sort", paramLabel = "KEY", description = "total, rate, p50, p99, p999 or name.")
    private String sort = "total";

    @Option(names = "--limit", paramLabel = "N", description = "Functions in plain text (24).")
    private int limit = 24;

    @Mixin
    private AttachOption attach = new AttachOption();

    @Override
    public Integer call() throws IOException {
        LiveOrder order = order();
        looks.check();
        CommandFailure.check(limit >= 0, "--limit=" + limit, "a limit is a number from 0");
        var unused = attach.apply(mdl, session);
        Path directory = session == null ? busiest() : mdl.store().find(session);
        Console console = mdl.console();
        try (SessionReader reader = SessionReader.open(directory, DebugNames.present(console))) {
            if (!ProgramState.runs(reader.facts())) {
                throw CommandFailure.failed(
                        "the program of " + SessionStore.name(directory) + " has ended", "mdl report shows it");
            }
            if (reader.facts().collected() == Collected.COVERAGE) {
                throw CommandFailure.usage(
                        "top: a coverage session does not know how often functions were called", "mdl report shows it");
            }
            if (!reader.facts().collected().hasProbes()) {
                throw CommandFailure.usage("top: a session of events knows no calls", "mdl report shows it");
            }
            LiveSession live = new LiveSession(reader);
            boolean onScreen = looks.areEndless() && console.outIsTerminal() && Posix.isTerminal(0);
            if (onScreen ? screen(live, reader, order, directory) : plain(live, reader, order)) {
                summary(reader.profile());
            }
        }
        return 0;
    }

    /// The session whose program takes the most CPU time during this call.
    private Path busiest() throws IOException {
        Map<Path, ProcessHandle> running = new LinkedHashMap<>();
        for (Path candidate : mdl.store().all()) {
            try (SessionReader reader = SessionReader.open(candidate)) {
                if (ProgramState.runs(reader.facts())) {
                    ProcessHandle.of(reader.pid()).ifPresent(process -> running.put(candidate, process));
                }
            } catch (IOException e) {
                // a damaged session, which is not reported here
            }
        }
        if (running.isEmpty()) {
            throw CommandFailure.failed("no program runs with the agent", "try: mdl run -- PROGRAM");
        }
        Map<Path, Duration> before = new HashMap<>();
        running.forEach((candidate, process) -> before.put(candidate, cpu(process)));
        if (running.size() > 1) {
            LockSupport.parkNanos(BUSIEST_NANOS);
        }
        return running.entrySet().stream()
                .max(Comparator.comparing(
                        one -> cpu(one.getValue()).minus(before.getOrDefault(one.getKey(), Duration.ZERO))))
                .orElseThrow()
                .getKey();
    }

    private static Duration cpu(ProcessHandle process) {
        return process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    private LiveOrder order() {
        try {
            return LiveOrder.valueOf(sort.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage(
                    "functions cannot be sorted by " + sort, "there are total, rate, p50, p99, p999 and name");
        }
    }

    /// Returns true when the program has ended, false when nobody reads the output any more.
    private boolean plain(LiveSession live, SessionReader reader, LiveOrder order) throws IOException {
        PrintStream out = mdl.console().out();
        LiveTable table = new LiveTable(PLAIN_WIDTH, false);
        MetricRows metrics = new MetricRows();
        for (int look = 0; looks.goOn(look); look++) {
            if (look > 0) {
                looks.pause();
                out.println();
            }
            LiveProfile profile = live.look();
            out.println(table.facts(profile));
            out.println(table.head(order).stripTrailing());
            order.sort(profile.functions()).stream()
                    .filter(function -> function.whole().calls() > 0)
                    .limit(limit)
                    .forEach(function ->
                            out.println(table.function(function, false).stripTrailing()));
            metrics.add(reader.metrics());
            if (!metrics.lines().isEmpty()) {
                out.println(MetricRows.HEAD);
                metrics.lines().forEach(out::println);
            }
            if (!ProgramState.runs(profile.whole().session())) {
                return true;
            }
            if (out.checkError()) {
                return false;
            }
        }
        return false;
    }

    /// Returns true when the program has ended, false when the user has quit.
    private boolean screen(LiveSession live, SessionReader reader, LiveOrder order, Path directory) throws IOException {
        Console console = mdl.console();
        TopScreen screen = new TopScreen(
                console.colour(true), order, tid -> ThreadNames.of(tid).orElse("-"));
        MetricRows metrics = new MetricRows();
        try (TopTerminal terminal = new TopTerminal()) {
            long look = System.nanoTime();
            while (true) {
                if (System.nanoTime() - look >= 0) {
                    LiveProfile profile = live.look();
                    if (!ProgramState.runs(profile.whole().session())) {
                        return true;
                    }
                    metrics.add(reader.metrics());
                    screen.show(profile, metrics.lines());
                    look = System.nanoTime() + looks.intervalNanos();
                }
                Size size = terminal.size();
                terminal.show(screen.lines(size.getColumns(), size.getRows()));
                long millis = (look - System.nanoTime()) / 1_000_000;
                int key = terminal.key(Math.min(KEY_MILLIS, millis));
                switch (key == TopTerminal.NOTHING ? TopScreen.Wish.NONE : screen.press(key)) {
                    case NONE -> {}
                    case QUIT -> {
                        return false;
                    }
                    case TOGGLE -> toggle(screen, directory);
                }
            }
        }
    }

    private static void toggle(TopScreen screen, Path directory) throws IOException {
        LiveFunction function = screen.selected();
        if (function != null) {
            try {
                String state = function.whole().on() ? "off" : "on";
                ControlClient.ask(directory, "probes " + state + " #" + function.number());
                screen.say(state + " from now on: " + function.whole().name());
            } catch (CommandFailure e) {
                screen.say(String.valueOf(e.getMessage()));
            }
        }
    }

    private void summary(Profile profile) throws IOException {
        Console console = mdl.console();
        SessionFacts facts = profile.session();
        console.out()
                .println(facts.program().replaceAll("\\p{Cntrl}", "?") + " " + facts.pid() + ": "
                        + ProgramState.describe(facts));
        new TableReport(
                        ProfileOrder.byDefault(profile),
                        SUMMARY_LIMIT,
                        console.colour(console.outIsTerminal()),
                        console.width(console.outIsTerminal(), 1))
                .write(profile, console.out());
    }
}
