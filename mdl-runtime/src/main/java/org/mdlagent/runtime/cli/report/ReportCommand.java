package org.mdlagent.runtime.cli.report;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.format.ProfileNotes;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.ProfileOrder;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.profiler.report.slice.TimeSlice;
import org.mdlagent.profiler.report.slice.Timeline;
import org.mdlagent.runtime.cli.context.AttachOption;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.names.DebugNames;
import org.mdlagent.runtime.cli.session.ProgramState;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Console;
import org.mdlagent.runtime.options.FunctionGlob;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `mdl report`: shows a session's contents, whether its program runs, has ended or was killed.
@Command(
        name = "report",
        description = "Show a live or finished session.",
        customSynopsis = "mdl report [OPTIONS] [SESSION]",
        sortOptions = false)
public final class ReportCommand implements Callable<Integer> {
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    /// After an attach.
    private static final long MEASURED_SECONDS = 10;

    private static final long POLL_NANOS = 50_000_000;

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandContext mdl;

    @Parameters(
            paramLabel = "SESSION",
            arity = "0..1",
            description = "A directory, a process id, or a prefix of a session's name. Default: the newest.")
    private @Nullable String session;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            description =
                    "table (the default), json, csv, html, pprof, folded, speedscope, callgrind, perf (the text of perf"
                            + " script), trace, lcov (for genhtml), fdata (for llvm-bolt), llvm-sample (for clang) or prometheus (as text, with classic histograms; mdl serve has native"
                            + " ones).")
    private String format = "table";

    @Option(
            names = "--sort",
            paramLabel = "KEY",
            description = "self, total, calls, cpu, mean, p50, p90, p99, p999, max or name.")
    private @Nullable String sort;

    @Option(names = "--limit", paramLabel = "N", description = "Functions to show (table: 24, others: all).")
    private @Nullable Integer limit;

    @Option(names = "--thread", paramLabel = "TID", description = "Only calls of this thread (exact sessions).")
    private @Nullable Integer thread;

    @Option(names = "--process", paramLabel = "PID", description = "Only calls of this process (exact sessions).")
    private @Nullable Integer process;

    @Option(
            names = "--from",
            paramLabel = "TIME",
            description = "What was measured since 14:05, 14:05:30, 2026-03-01T14:05:00Z, or -10m before the end.")
    private @Nullable String from;

    @Option(names = "--to", paramLabel = "TIME", description = "What was measured until then.")
    private @Nullable String to;

    @Option(
            names = "--function",
            paramLabel = "GLOB",
            description = "Only these functions; IMAGE!FUNCTION or FILE:FUNCTION narrows. Repeatable.")
    private List<String> functions = List.of();

    @Mixin
    private AttachOption attach = new AttachOption();

    @Override
    public Integer call() throws IOException {
        ReportFormat wanted = ReportFormat.of(format);
        ProfileOrder order = sort == null ? null : ReportFormat.order(sort);
        CommandFailure.check(limit == null || limit >= 0, "--limit=" + limit, "a limit is a number from 0");
        wanted.checkChoice(limit != null || sort != null, !functions.isEmpty());
        Console console = mdl.console();
        wanted.checkDestination(console.outIsTerminal());
        wanted.checkRange(isRanged());
        List<FunctionGlob> globs = functions.stream().map(ReportCommand::glob).toList();
        if (attach.apply(mdl, session)) {
            measure(mdl.store().find(session));
        }
        Path directory = mdl.store().findSettled(session, console);
        try (SessionReader reader = SessionReader.open(directory, DebugNames.fetching(console))) {
            List<TimeSlice> slices = slices(reader, wanted);
            Profile whole = isRanged() ? reader.profile(slices) : read(reader);
            wanted.checkSession(whole.session());
            Profile profile = whole;
            if (!globs.isEmpty()) {
                profile = whole.only(function -> globs.stream().anyMatch(glob -> means(glob, function)));
            }
            wanted.write(
                    reader,
                    profile,
                    new Timeline(whole.functions(), slices),
                    order,
                    limit,
                    console.out(),
                    console.colour(console.outIsTerminal()),
                    console.width(console.outIsTerminal(), 1));
            String nothing = wanted.nothing(profile);
            if (nothing != null) {
                console.say(nothing, wanted.remedy(isRanged()));
            }
            if (!wanted.tellsLosses()) {
                profile.losses().forEach(loss -> console.say(ProfileNotes.sentence(loss), null));
                ProfileNotes.damage(profile).forEach(damage -> console.say(damage, null));
            }
        }
        return 0;
    }

    /// Waits until there is something to report.
    private void measure(Path directory) throws IOException {
        mdl.console().say("measuring for " + MEASURED_SECONDS + " s", null);
        try (SessionReader reader = SessionReader.open(directory)) {
            long end = System.nanoTime() + MEASURED_SECONDS * NANOS_PER_SECOND;
            while (System.nanoTime() - end < 0 && ProgramState.runs(reader.facts())) {
                LockSupport.parkNanos(POLL_NANOS);
            }
        }
    }

    private Profile read(SessionReader reader) throws IOException {
        if (process != null) {
            if (thread != null) {
                throw CommandFailure.usage("--thread and --process exclude each other", "a thread is of one process");
            }
            checkExact(reader, "--process: a sampled session does not tell processes apart");
            return ofProcess(reader, process);
        }
        if (thread == null) {
            return reader.profile();
        }
        checkExact(reader, "--thread: a sampled session does not tell threads apart");
        int tid = thread;
        return reader.profile(candidate -> candidate == tid);
    }

    private boolean isRanged() {
        return from != null || to != null;
    }

    /// The slices selected by `--from` and `--to`, or all slices for formats that show them. None for a
    /// single thread or process, which slices do not distinguish.
    private List<TimeSlice> slices(SessionReader reader, ReportFormat format) throws IOException {
        boolean whole = thread == null && process == null;
        if (isRanged()) {
            if (!whole) {
                throw CommandFailure.usage(
                        "--from and --to tell neither threads nor processes apart", "leave --thread and --process out");
            }
            return chosen(reader.slices(), end(reader.facts()));
        }
        return whole && format == ReportFormat.HTML ? reader.slices() : List.of();
    }

    /// Its last sign of life, while its end is unknown.
    private static Instant end(SessionFacts session) {
        return session.started().plusNanos(session.elapsedNanos().orElse(0));
    }

    /// At least one.
    private List<TimeSlice> chosen(List<TimeSlice> kept, Instant sessionEnd) {
        if (kept.isEmpty()) {
            throw CommandFailure.failed(
                    "the session has no slices of time",
                    "its first one ends a second after the probes are in place; leave --from and --to out");
        }
        ZoneId zone = ZoneId.systemDefault();
        Instant begin = kept.getFirst().start();
        Instant end = kept.getLast().end();
        Instant first = from == null ? begin : ReportTime.parse("--from", from, sessionEnd, zone);
        Instant last = to == null ? end : ReportTime.parse("--to", to, sessionEnd, zone);
        if (from != null && to != null && first.isAfter(last)) {
            throw CommandFailure.usage("--from=" + from + " is after --to=" + to, null);
        }
        List<TimeSlice> chosen = first.isAfter(last)
                ? List.of()
                : kept.stream().filter(slice -> slice.overlaps(first, last)).toList();
        if (chosen.isEmpty()) {
            throw CommandFailure.failed(
                    "the session has no data between --from and --to",
                    "the session has slices from " + local(begin, zone) + " to " + local(end, zone));
        }
        return chosen;
    }

    private static String local(Instant instant, ZoneId zone) {
        return DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(
                instant.atZone(zone).truncatedTo(ChronoUnit.SECONDS));
    }

    private static void checkExact(SessionReader reader, String otherwise) throws IOException {
        if (!reader.facts().exact()) {
            throw CommandFailure.usage(otherwise, "record with mdl run --exact");
        }
    }

    private static Profile ofProcess(SessionReader reader, int pid) throws IOException {
        Profile profile = reader.profileOfProcess(pid);
        if (profile == null) {
            boolean known = reader.profile().family().processes().stream().anyMatch(one -> one.pid() == pid);
            throw CommandFailure.failed(
                    known
                            ? "--process=" + pid + ": with so many processes, this one's calls were not kept apart"
                            : "--process=" + pid + ": the session has no such process",
                    "without it the report lists them all");
        }
        return profile;
    }

    /// Whether a pattern matches a function.
    public static boolean means(FunctionGlob glob, FunctionProfile function) {
        String file = function.file();
        return glob.matches(function.image(), file == null ? "" : file, function.name());
    }

    private static FunctionGlob glob(String text) {
        try {
            return FunctionGlob.of(text);
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage("--function=" + text + " is not possible; " + e.getMessage(), null);
        }
    }
}
