package org.mdlagent.profiler.report.format;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.mdlagent.profiler.report.profile.CpuSamples;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Latency;
import org.mdlagent.profiler.report.profile.ProcessProfile;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.ProfileOrder;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.profile.TimeRange;
import org.mdlagent.profiler.text.ForeignText;

/// The report for people: a line of facts, then a table of functions with aligned numbers.
///
/// @param limit  functions to show
/// @param colour whether the output supports ANSI colours
/// @param width  columns of the terminal, 0 when unlimited
public record TableReport(ProfileOrder order, int limit, boolean colour, int width) {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);

    private static final int NAME_WIDTH_MAX = 60;
    private static final int NAME_WIDTH_MIN = 16;

    /// Width reserved for names before there is room for bars and for redundant columns.
    private static final int NAME_WIDTH_WISHED = 32;

    private static final List<String> DISPENSABLE = List.of("RATE", "p99.9", "n", "p90");

    /// The first columns are of calls, the others of their durations.
    private static final int COUNT_COLUMNS = 2;

    private static final int DAYS_MAX = 100_000;

    /// Shorter times would be shown as 0.000 s.
    private static final long UNSEEN_NANOS_MIN = 1_000_000;

    public void write(Profile profile, Appendable out) throws IOException {
        List<FunctionProfile> called = order.sort(
                profile.functions().stream().filter(FunctionProfile::isToldOf).toList());
        List<FunctionProfile> shown = called.subList(0, Math.min(limit, called.size()));
        out.append(bold(facts(profile, called.size()))).append('\n');
        if (!shown.isEmpty()) {
            table(profile, shown, out);
        }
        out.append(dim(footer(profile, called.size(), shown.size()))).append('\n');
        if (profile.family().size() > 1) {
            processes(profile, out);
        }
        for (String note : notes(profile, shown)) {
            out.append(dim(note)).append('\n');
        }
        for (String warning : ProfileNotes.warnings(profile)) {
            out.append("mdl: ").append(warning).append('\n');
        }
    }

    static String facts(Profile profile, int called) {
        SessionFacts session = profile.session();
        List<String> facts = new ArrayList<>();
        facts.add("mdl  " + ForeignText.printable(session.name()));
        facts.add("pid " + session.pid());
        TimeRange range = profile.range();
        if (range != null) {
            facts.add(time(range.from()) + " to " + time(range.to()));
        }
        facts.add(
                session.elapsedNanos().isPresent()
                        ? PlainText.elapsed(session.elapsedNanos().getAsLong())
                        : "-");
        OptionalLong unseen = session.unseenNanos();
        if (range == null && unseen.orElse(0) >= UNSEEN_NANOS_MIN) {
            facts.add("measured from " + PlainText.elapsed(unseen.getAsLong()));
        }
        if (profile.family().size() > 1) {
            facts.add(PlainText.grouped(profile.family().size()) + " processes");
        }
        facts.add(
                session.process().threads() == 1
                        ? "1 thread"
                        : PlainText.grouped(session.process().threads()) + " threads");
        facts.add(
                PlainText.grouped(profile.functions().size()) + " functions, " + PlainText.grouped(called) + " called");
        facts.add(ProfileNotes.mode(profile));
        profile.probePercent().ifPresent(percent -> facts.add(String.format(Locale.ROOT, "probes %.1f %%", percent)));
        profile.agentPercent()
                .ifPresent(percent -> facts.add(String.format(Locale.ROOT, "agent's CPU %.1f %%", percent)));
        if (session.process().exitSignal().orElse(0) > 0) {
            facts.add("killed by signal " + session.process().exitSignal().getAsInt());
        } else if (session.process().exitStatus().orElse(0) > 0) {
            facts.add("exit status " + session.process().exitStatus().getAsInt());
        }
        facts.add("session " + ForeignText.printable(session.id()));
        return String.join(" · ", facts);
    }

    /// In the reader's time zone.
    private static String time(Instant instant) {
        return TIME.format(instant.atZone(ZoneId.systemDefault()));
    }

    private void table(Profile profile, List<FunctionProfile> shown, Appendable out) throws IOException {
        double seconds = profile.session().measuredNanos().orElse(0) / 1e9;
        Whole whole = Whole.of(profile);
        CpuSamples samples = profile.cpu();
        TextColumn cpu = new TextColumn("CPU", true);
        List<TextColumn> all = List.of(
                new TextColumn("CALLS", true),
                new TextColumn("RATE", false),
                cpu,
                new TextColumn("SELF", true),
                new TextColumn("TOTAL", true),
                new TextColumn("n", true),
                new TextColumn("p50", false),
                new TextColumn("p90", false),
                new TextColumn("p99", false),
                new TextColumn("p99.9", false),
                new TextColumn("max", false));
        boolean timed = profile.session().collected().isTimed();
        for (FunctionProfile function : shown) {
            Latency latency = function.latency();
            boolean known = function.damage() == null;
            boolean hasRate = function.shownCalls().isPresent() && seconds > 0;
            all.get(0).add(Quantity.calls(function));
            Quantity rate = hasRate ? Quantity.rate(function.calls() / seconds) : Quantity.UNKNOWN;
            all.get(1).add(function.areCallsLeast() ? rate.atLeast() : rate);
            cpu.add(cpu(function, samples));
            Quantity self =
                    whole.part(function.shownSelfNanos(), function.times().selfError());
            all.get(3).add(function.areCallsLeast() ? self.atLeast() : self);
            all.get(4).add(whole.total(function, samples));
            all.get(5).add(known ? Quantity.count(function.sampled()) : Quantity.UNKNOWN);
            all.get(6).add(PlainText.duration(function.percentileNanos(50)));
            all.get(7).add(PlainText.duration(function.percentileNanos(90)));
            all.get(8).add(PlainText.duration(function.percentileNanos(99)));
            all.get(9).add(PlainText.duration(function.percentileNanos(99.9)));
            Quantity max = PlainText.duration(latency.maxNanos());
            all.get(10).add(function.eachTimed() ? max : max.atLeast());
        }
        List<TextColumn> columns = columns(all, profile);
        double[] bounds = LatencyBars.bounds(shown);
        String range = LatencyBars.powerOfTen(bounds[0]) + ".." + LatencyBars.powerOfTen(bounds[LatencyBars.COUNT]);
        List<String> printable =
                shown.stream().map(f -> ForeignText.printable(f.name())).toList();
        int wished = printable.stream().mapToInt(ShortName::columns).max().orElse(0);
        Fitting fitting = fit(columns, Math.min(wished, NAME_WIDTH_WISHED), timed);
        List<String> names =
                printable.stream().map(name -> ShortName.of(name, fitting.room)).toList();
        int nameWidth = Math.max(
                "FUNCTION".length(),
                names.stream().mapToInt(ShortName::columns).max().orElse(0));

        StringBuilder line = new StringBuilder(PlainText.pad("FUNCTION", nameWidth));
        line.append(TextColumn.titles(fitting.columns)).append(fitting.bars ? "  LATENCY " + range : "");
        out.append(dim(line.toString())).append('\n');
        for (int i = 0; i < shown.size(); i++) {
            line.setLength(0);
            line.append(PlainText.pad(names.get(i), nameWidth));
            line.append(TextColumn.cells(fitting.columns, i));
            if (fitting.bars) {
                line.append("  ").append(LatencyBars.of(shown.get(i).latency(), bounds));
            }
            out.append(line.toString().stripTrailing()).append('\n');
        }
    }

    /// In percent of the CPU time of all samples.
    private static Quantity cpu(FunctionProfile function, CpuSamples samples) {
        OptionalLong nanos = function.shownCpuNanos();
        if (samples.isEmpty() || function.damage() != null) {
            return Quantity.UNKNOWN;
        }
        return nanos.isPresent()
                ? Quantity.share(
                        100 * nanos.getAsLong() / samples.nanos(),
                        function.cpu().selfError().orElse(0))
                : Quantity.percent(100 * function.cpuNanosMax(samples) / samples.nanos())
                        .atMost();
    }

    /// The columns that carry information. If not every call is timed, CPU replaces SELF: it covers every
    /// function.
    private static List<TextColumn> columns(List<TextColumn> all, Profile profile) {
        if (!profile.session().collected().isTimed()) {
            return all.subList(0, COUNT_COLUMNS);
        }
        String without = profile.cpu().isEmpty() ? "CPU" : profile.session().exact() ? "" : "SELF";
        return all.stream().filter(column -> !column.name().equals(without)).toList();
    }

    /// The layout that fits a line.
    ///
    /// @param room width of the name
    private record Fitting(List<TextColumn> columns, boolean bars, int room) {}

    /// Removes columns, the least informative first, until names have the width asked for.
    private Fitting fit(List<TextColumn> all, int wished, boolean timed) {
        List<TextColumn> columns = new ArrayList<>(all);
        boolean bars = timed;
        Iterator<String> dispensable = DISPENSABLE.iterator();
        while (room(columns, bars) < wished && (bars || dispensable.hasNext())) {
            if (bars) {
                bars = false;
            } else {
                String title = dispensable.next();
                columns.removeIf(column -> column.name().equals(title));
            }
        }
        return new Fitting(columns, bars, Math.clamp(room(columns, bars), NAME_WIDTH_MIN, NAME_WIDTH_MAX));
    }

    private int room(List<TextColumn> columns, boolean bars) {
        int taken = columns.stream().mapToInt(column -> 2 + column.width()).sum() + (bars ? 2 + LatencyBars.COUNT : 0);
        return width == 0 ? NAME_WIDTH_MAX : width - taken;
    }

    /// The processes with the most calls, in the order of their starts.
    private void processes(Profile profile, Appendable out) throws IOException {
        Profile.Family family = profile.family();
        List<ProcessProfile> most = family.processes().stream()
                .sorted(Comparator.comparingLong(ProcessProfile::calls).reversed())
                .limit(limit)
                .sorted(Comparator.comparing(ProcessProfile::started))
                .toList();
        Instant start = profile.session().started();
        List<List<String>> rows = new ArrayList<>();
        rows.add(
                List.of("PROCESS", "PARENT", "STARTED", "RAN", profile.session().exact() ? "CALLS" : "SEEN"));
        List<String> ends = new ArrayList<>(List.of("END"));
        for (ProcessProfile process : most) {
            rows.add(List.of(
                    Integer.toString(process.pid()),
                    Integer.toString(process.parent()),
                    "+" + PlainText.elapsed(nanos(start, process.started())),
                    process.ended() == null ? "-" : PlainText.elapsed(nanos(process.started(), process.ended())),
                    PlainText.grouped(process.calls())));
            ends.add(end(process) + (process.agent() ? ", has the agent" : ""));
        }
        int[] widths = new int[rows.getFirst().size()];
        for (List<String> row : rows) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        for (int i = 0; i < rows.size(); i++) {
            StringBuilder line = new StringBuilder();
            for (int column = 0; column < widths.length; column++) {
                String cell = rows.get(i).get(column);
                line.append(" ".repeat(widths[column] - cell.length()))
                        .append(cell)
                        .append("  ");
            }
            line.append(ends.get(i));
            out.append(i == 0 ? dim(line.toString()) : line).append('\n');
        }
        long others = family.size() - most.size();
        if (others > 0) {
            long calls = family.callsForgotten()
                    + family.processes().stream()
                            .mapToLong(ProcessProfile::calls)
                            .sum()
                    - most.stream().mapToLong(ProcessProfile::calls).sum();
            out.append(dim("and " + PlainText.grouped(others) + " more, with " + PlainText.grouped(calls)
                            + " calls (--limit)"))
                    .append('\n');
        }
    }

    /// In a damaged file the difference may exceed the range of a long.
    private static long nanos(Instant from, Instant to) {
        Duration passed = Duration.between(from, to);
        return passed.isNegative() || passed.toDays() > DAYS_MAX ? 0 : passed.toNanos();
    }

    private static String end(ProcessProfile process) {
        if (process.runs()) {
            return "runs";
        }
        if (process.exitStatus().isPresent()) {
            return "exit status " + process.exitStatus().getAsInt();
        }
        return switch (process.departure()) {
            case EXECUTED_ANOTHER_PROGRAM -> "executed another program";
            case GAVE_UP_RIGHTS -> "gave up rights";
            case BEGAN_A_SESSION -> "has a session of its own";
            case NONE -> "killed, or executed another program";
        };
    }

    /// The reference for percentages: the measured time, which each of the program's threads has once.
    private record Whole(double nanos, double mostPercent) {
        static Whole of(Profile profile) {
            SessionFacts session = profile.session();
            return new Whole(
                    (double) session.measuredNanos().orElse(0),
                    100.0 * Math.max(1, session.process().threads()));
        }

        /// TOTAL; or CPU time by samples if that is better known, which its unit shows.
        Quantity total(FunctionProfile function, CpuSamples samples) {
            if (function.isCpuTotalBetter()) {
                return part(function.shownCpuTotalNanos(), function.shownCpuTotalError())
                        .ofCpu();
            }
            Quantity total = part(function.shownTotalNanos(), function.shownTotalError());
            if (total.equals(Quantity.UNKNOWN) && !samples.isEmpty() && function.damage() == null) {
                long most = (long) function.cpuTotalNanosMax(samples);
                return part(OptionalLong.of(most), OptionalDouble.empty())
                        .atMost()
                        .ofCpu();
            }
            return function.areCallsLeast() ? total.atLeast() : total;
        }

        /// A sum above the possible maximum is shown as the maximum, with a mark.
        Quantity part(OptionalLong part, OptionalDouble error) {
            if (part.isEmpty() || nanos <= 0) {
                return Quantity.UNKNOWN;
            }
            if (exceeds(part, mostPercent)) {
                return Quantity.percent(mostPercent).marked();
            }
            double percent = percent(part);
            return error.isPresent() ? Quantity.share(percent, error.getAsDouble()) : Quantity.percent(percent);
        }

        /// Whether TOTAL has a mark.
        boolean isMarked(FunctionProfile function) {
            return !function.isCpuTotalBetter() && exceeds(function.shownTotalNanos(), mostPercent);
        }

        /// By more than rounding hides.
        boolean exceeds(OptionalLong part, double percent) {
            return nanos > 0 && percent(part) >= percent + 0.05;
        }

        private double percent(OptionalLong part) {
            return 100 * part.orElse(0) / nanos;
        }
    }

    /// What the table lacks, and which of its parts may surprise a reader.
    private static List<String> notes(Profile profile, List<FunctionProfile> shown) {
        Whole whole = Whole.of(profile);
        List<String> notes = new ArrayList<>();
        String notProbed = ProfileNotes.notProbed(profile.cpu());
        if (notProbed != null) {
            notes.add(notProbed);
        }
        if (whole.mostPercent > 100 && shown.stream().anyMatch(f -> whole.exceeds(f.totalNanos(), 100))) {
            notes.add("percentages are of the measured time, which each thread has once");
        }
        if (shown.stream().anyMatch(whole::isMarked)) {
            notes.add("* above the possible maximum: overestimated");
        }
        return notes;
    }

    private String footer(Profile profile, int called, int shown) {
        if (profile.functions().isEmpty()) {
            return withoutFunctions(profile.session());
        }
        if (called == 0) {
            return "no call was seen";
        }
        return PlainText.grouped(called) + (called == 1 ? " function" : " functions")
                + (shown < called ? " · " + PlainText.grouped(shown) + " shown (--limit)" : "")
                + " · sorted by " + order.name().toLowerCase(Locale.ROOT) + " (--sort)";
    }

    static String withoutFunctions(SessionFacts session) {
        if (session.probes().armed()) {
            return "no function has probes";
        }
        return session.ended() == null
                ? "no probes are in place yet"
                : "no probes were in place when it ended: mdl run waits for them; agent.log says more";
    }

    private String bold(String text) {
        return new Style(colour).bold(text);
    }

    private String dim(String text) {
        return new Style(colour).dim(text);
    }
}
