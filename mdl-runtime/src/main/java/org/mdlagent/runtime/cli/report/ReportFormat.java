package org.mdlagent.runtime.cli.report;

import java.io.IOException;
import java.io.OutputStream;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.DwarfLines;
import org.mdlagent.arch.elf.DwarfScopes;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.profiler.figures.Collected;
import org.mdlagent.profiler.report.exposition.PrometheusReport;
import org.mdlagent.profiler.report.format.BlocksTable;
import org.mdlagent.profiler.report.format.BoltReport;
import org.mdlagent.profiler.report.format.CallgrindReport;
import org.mdlagent.profiler.report.format.CoverageTable;
import org.mdlagent.profiler.report.format.CsvReport;
import org.mdlagent.profiler.report.format.EventsTable;
import org.mdlagent.profiler.report.format.FoldedReport;
import org.mdlagent.profiler.report.format.JsonReport;
import org.mdlagent.profiler.report.format.LcovReport;
import org.mdlagent.profiler.report.format.LlvmSampleReport;
import org.mdlagent.profiler.report.format.PerfScriptReport;
import org.mdlagent.profiler.report.format.PprofReport;
import org.mdlagent.profiler.report.format.SlowCallsTable;
import org.mdlagent.profiler.report.format.SpeedscopeReport;
import org.mdlagent.profiler.report.format.TableReport;
import org.mdlagent.profiler.report.format.TraceReport;
import org.mdlagent.profiler.report.page.HtmlReport;
import org.mdlagent.profiler.report.profile.EventCounts;
import org.mdlagent.profiler.report.profile.FunctionBlocks;
import org.mdlagent.profiler.report.profile.NotProbed;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.ProfileOrder;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.profile.SlowCall;
import org.mdlagent.profiler.report.profile.TimedCall;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.profiler.report.slice.Timeline;
import org.mdlagent.runtime.cli.session.ProgramState;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Console;

/// The formats of a report.
public enum ReportFormat {
    TABLE,
    JSON,
    CSV,
    HTML,
    PPROF,
    PROMETHEUS,
    FOLDED,
    SPEEDSCOPE,
    CALLGRIND,
    PERF,
    TRACE,
    LCOV,
    FDATA,
    LLVM_SAMPLE;

    private static final int TABLE_LIMIT = 24;
    private static final int SLOW_LIMIT = 5;

    /// Formats that show only call paths.
    private static final Set<ReportFormat> PATHS = EnumSet.of(FOLDED, SPEEDSCOPE, CALLGRIND, PERF);

    /// Those that tell which functions were called.
    private static final Set<ReportFormat> COVERAGE = EnumSet.of(TABLE, JSON, CSV, LCOV);

    /// Those that tell where events came.
    private static final Set<ReportFormat> EVENTS = EnumSet.of(TABLE, JSON, FOLDED);

    public static ReportFormat of(String name) {
        return switch (name) {
            case "table" -> TABLE;
            case "json" -> JSON;
            case "csv" -> CSV;
            case "html" -> HTML;
            case "pprof" -> PPROF;
            case "prometheus" -> PROMETHEUS;
            case "folded" -> FOLDED;
            case "speedscope" -> SPEEDSCOPE;
            case "callgrind" -> CALLGRIND;
            case "perf" -> PERF;
            case "trace" -> TRACE;
            case "lcov" -> LCOV;
            case "fdata" -> FDATA;
            case "llvm-sample" -> LLVM_SAMPLE;
            default ->
                throw CommandFailure.usage(
                        "there is no format " + name,
                        "there are table, json, csv, html, pprof, prometheus, folded, speedscope, callgrind, perf,"
                                + " trace, lcov, fdata and llvm-sample");
        };
    }

    static ProfileOrder order(String name) {
        try {
            return ProfileOrder.valueOf(name.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage(
                    "functions cannot be sorted by " + name,
                    "there are self, total, calls, cpu, mean, p50, p90, p99, p999, max and name");
        }
    }

    /// Refuses to write binary formats to a terminal.
    void checkDestination(boolean terminal) {
        if (!terminal) {
            return;
        }
        if (this == HTML) {
            throw CommandFailure.usage("html is for a browser", "try: mdl report --format html > profile.html");
        }
        if (this == PPROF) {
            throw CommandFailure.usage("pprof is not text", "try: mdl report --format pprof > profile.pb.gz");
        }
    }

    /// Refuses a selection of functions if the format shows all.
    ///
    /// @param ordered whether an order or a number of functions is chosen
    /// @param named   whether functions are chosen by name
    void checkChoice(boolean ordered, boolean named) {
        boolean showsAll = this == TRACE || this == LCOV || isForCompilers() || PATHS.contains(this);
        if ((ordered || named && this != LCOV) && showsAll) {
            throw CommandFailure.usage(
                    lowerCase() + " shows all functions, in an order of its own",
                    "leave " + (this == LCOV ? "" : "--function, ") + "--limit and --sort out");
        }
    }

    /// Refuses a range of time if the format does not support it: Prometheus needs counters that only grow,
    /// and the last calls of each thread do not come from slices.
    void checkRange(boolean ranged) {
        if (ranged && (this == PROMETHEUS || this == TRACE || isForCompilers())) {
            throw CommandFailure.usage(
                    lowerCase() + " has no ranges of time", "leave --from and --to out, or choose another format");
        }
    }

    /// Refuses a session without the data that the format shows.
    void checkSession(SessionFacts session) {
        if (session.collected() == Collected.COVERAGE && !COVERAGE.contains(this)) {
            throw CommandFailure.usage(
                    lowerCase() + ": a coverage session does not know how often functions were called",
                    "there are table, json, csv and lcov");
        }
        if (!session.collected().hasProbes() && !EVENTS.contains(this)) {
            throw CommandFailure.usage(
                    lowerCase() + ": a session of events knows no calls", "there are table, json and folded");
        }
        if (this == LCOV && session.collected().isTimed() && !session.exact()) {
            throw CommandFailure.usage(
                    "lcov: a sampled session does not know each function that was called",
                    "record with mdl collect coverage, mdl collect counts or mdl run --exact");
        }
        if (this == FDATA && session.collected() != Collected.ARCS) {
            throw CommandFailure.usage("fdata: the session does not know branches", "record with mdl collect arcs");
        }
        if (this == LLVM_SAMPLE && !session.collected().hasBlocks()) {
            throw CommandFailure.usage(
                    "llvm-sample: the session does not know how often blocks ran", "record with mdl collect blocks");
        }
        if (session.exact() && session.collected() != Collected.SLOW && this == TRACE) {
            throw CommandFailure.usage(
                    "trace: an exact session keeps no single calls", "record without --exact, or with mdl run --slow");
        }
    }

    private boolean isForCompilers() {
        return this == FDATA || this == LLVM_SAMPLE;
    }

    /// The message for a report with nothing to show; null if there is something.
    @Nullable
    String nothing(Profile profile) {
        if (this == LCOV && profile.functions().stream().noneMatch(LcovReport::isLocated)) {
            return "lcov: no function has a known source line";
        }
        return PATHS.contains(this)
                        && profile.cpu().isEmpty()
                        && profile.session().collected().hasProbes()
                ? lowerCase() + ": the session has no call paths"
                : null;
    }

    /// What to do where there is nothing to show.
    String remedy(boolean ranged) {
        if (this == LCOV) {
            return "compile with -g, or install the program's debug file";
        }
        return ranged
                ? "they are of the whole session: leave --from and --to out"
                : "agent.log says why the kernel has taken no samples of the CPU time, if it refused";
    }

    /// Whether the report itself contains losses; otherwise they are printed separately.
    boolean tellsLosses() {
        return this == TABLE || this == JSON || this == HTML || this == PROMETHEUS;
    }

    public String lowerCase() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /// @param reader of the profile's session
    /// @param timeline of that session
    /// @param order null for the session's default
    /// @param limit functions to show, null for the format's default
    /// @param width columns of the terminal, 0 for none
    public void write(
            SessionReader reader,
            Profile profile,
            Timeline timeline,
            @Nullable ProfileOrder order,
            @Nullable Integer limit,
            OutputStream out,
            boolean colour,
            int width)
            throws IOException {
        ProfileOrder used = order == null ? ProfileOrder.byDefault(profile) : order;
        int shown = limit != null ? limit : this == TABLE ? TABLE_LIMIT : Integer.MAX_VALUE;
        Writer text = Console.text(out);
        boolean coverage = profile.session().collected() == Collected.COVERAGE;
        boolean counting = profile.session().collected().hasBlocks();
        List<NotProbed> notProbed = coverage || counting ? reader.notProbed() : List.of();
        List<FunctionBlocks> blocks = counting ? reader.blocks(profile) : List.of();
        SlowCall.All slow = slow(reader, profile);
        EventCounts events = reader.events();
        switch (this) {
            case TABLE -> {
                if (coverage) {
                    new CoverageTable(shown, colour).write(profile, notProbed, text);
                } else if (counting) {
                    new BlocksTable(shown, colour).write(profile, blocks, notProbed, text);
                } else if (!profile.session().collected().hasProbes()) {
                    new EventsTable(shown, colour).write(profile, events, text);
                } else {
                    new TableReport(used, shown, colour, width).write(profile, text);
                    new SlowCallsTable(limit != null ? limit : SLOW_LIMIT, colour).write(slow, text);
                }
            }
            case JSON -> JsonReport.write(profile, notProbed, blocks, slow, events, used, shown, text);
            case CSV -> CsvReport.write(profile, used, shown, text);
            case HTML ->
                HtmlReport.write(
                        profile, timeline, calls(reader, profile), slow, reader.sources(profile), used, shown, text);
            case PPROF -> PprofReport.write(profile, used, shown, out);
            case PROMETHEUS -> PrometheusReport.write(profile, used, shown, text);
            case FOLDED ->
                FoldedReport.write(profile.session().collected().hasProbes() ? profile.paths() : events.paths(), text);
            case SPEEDSCOPE -> SpeedscopeReport.write(profile, text);
            case CALLGRIND -> CallgrindReport.write(profile, text);
            case PERF -> PerfScriptReport.write(profile, text);
            case TRACE -> trace(reader, profile, slow, text);
            case LCOV -> LcovReport.write(profile, blocks, text);
            case FDATA -> branches(reader, profile, blocks, text);
            case LLVM_SAMPLE -> lines(reader, profile, blocks, text);
        }
        text.flush();
    }

    /// Branches of the image that executed the most instructions.
    private static void branches(SessionReader reader, Profile profile, List<FunctionBlocks> blocks, Writer text)
            throws IOException {
        List<FunctionBlocks> busiest = ofBusiestImage(blocks, FDATA);
        try (ElfFile file = file(reader, profile, busiest, FDATA)) {
            BoltReport.write(busiest, file.symbols(), text);
        }
    }

    /// Source lines of that image.
    private static void lines(SessionReader reader, Profile profile, List<FunctionBlocks> blocks, Writer text)
            throws IOException {
        List<FunctionBlocks> busiest = ofBusiestImage(blocks, LLVM_SAMPLE);
        try (ElfFile file = file(reader, profile, busiest, LLVM_SAMPLE)) {
            DwarfLines lines = file.lines();
            DwarfScopes scopes = file.scopes();
            if (lines == null || scopes == null || LlvmSampleReport.write(busiest, lines, scopes, text) == 0) {
                throw CommandFailure.failed(
                        "llvm-sample: " + busiest.getFirst().function().image() + " has no debug information",
                        "compile with -g, or install the program's debug file");
            }
        }
    }

    private static List<FunctionBlocks> ofBusiestImage(List<FunctionBlocks> blocks, ReportFormat format) {
        Map<String, List<FunctionBlocks>> byImage = blocks.stream()
                .collect(Collectors.groupingBy(function -> function.function().image()));
        return byImage.values().stream()
                .max(Comparator.comparingDouble(each ->
                        each.stream().mapToDouble(FunctionBlocks::executed).sum()))
                .orElseThrow(() -> CommandFailure.failed(
                        format.lowerCase() + ": no function has block counts", "agent.log may say why"));
    }

    private static ElfFile file(
            SessionReader reader, Profile profile, List<FunctionBlocks> ofImage, ReportFormat format)
            throws IOException {
        String image = ofImage.getFirst().function().image();
        ElfFile file = reader.file(profile, image);
        if (file == null) {
            throw CommandFailure.failed(
                    format.lowerCase() + ": " + image + " has no build id, or is not the file that ran",
                    "link with --build-id, and keep the file");
        }
        return file;
    }

    /// Slow calls, if the report covers the whole session.
    private static SlowCall.All slow(SessionReader reader, Profile profile) throws IOException {
        boolean kept = profile.session().collected() == Collected.SLOW && profile.range() == null;
        return kept ? reader.slowCalls(profile) : SlowCall.All.NONE;
    }

    /// The last calls of each thread, if the report covers the whole session.
    private static List<TimedCall> calls(SessionReader reader, Profile profile) throws IOException {
        return profile.range() == null ? reader.lastCalls() : List.of();
    }

    /// Writes the whole session, with the format's defaults.
    public void write(SessionReader reader, OutputStream out, boolean colour, int width) throws IOException {
        checkSession(reader.facts());
        Profile profile = reader.profile();
        Timeline timeline = this == HTML ? new Timeline(profile.functions(), reader.slices()) : Timeline.NONE;
        write(reader, profile, timeline, null, null, out, colour, width);
    }

    public void write(SessionReader reader, Path file) throws IOException {
        try (OutputStream out = Files.newOutputStream(file)) {
            write(reader, out, false, 0);
        }
    }

    /// The session has the names of sampled threads, ended ones included.
    private static void trace(SessionReader reader, Profile profile, SlowCall.All slow, Writer out) throws IOException {
        SessionFacts session = profile.session();
        List<TimedCall> calls = slow.calls().isEmpty() ? reader.lastCalls() : TraceReport.calls(slow);
        Map<Integer, String> names = new TreeMap<>();
        profile.paths().threads().stream()
                .filter(thread -> !thread.name().isEmpty())
                .forEach(thread -> names.put(thread.tid(), thread.name()));
        // After the program has ended, other threads may have its thread ids.
        if (ProgramState.runs(session)) {
            names.putAll(ThreadNames.of(calls.stream().map(TimedCall::tid).collect(Collectors.toSet())));
        }
        TraceReport.write(session, calls, slow, names, out);
    }
}
