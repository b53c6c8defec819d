package org.mdlagent.profiler.report.format;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Latency;
import org.mdlagent.profiler.report.profile.ProcessProfile;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.ProfileOrder;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.profile.TimeRange;

/// The report for people: one line of facts, then a table of functions whose numbers line up.
///
/// @param limit  functions to show
/// @param colour whether the output understands ANSI colours
/// @param width  columns of the terminal, 0 when unlimited
public record TableReport(ProfileOrder order, int limit, boolean colour, int width) {
    public static final String BARS = "▁▂▃▄▅▆▇█";

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);
    private static final int BAR_COUNT = 10;
    private static final int NAME_WIDTH_MAX = 60;
    private static final int NAME_WIDTH_MIN = 16;
    private static final int DAYS_MAX = 100_000;

    public void write(Profile profile, Appendable out) throws IOException {
        List<FunctionProfile> called = order.sort(
                profile.functions().stream().filter(f -> f.calls() > 0).toList());
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
        for (String warning : warnings(profile)) {
            out.append("mdl: ").append(warning).append('\n');
        }
    }

    private static String facts(Profile profile, int called) {
        SessionFacts session = profile.session();
        List<String> facts = new ArrayList<>();
        facts.add("mdl  " + printable(baseName(session.program())));
        facts.add("pid " + session.pid());
        TimeRange range = profile.range();
        if (range != null) {
            facts.add(time(range.from()) + " to " + time(range.to()));
        }
        facts.add(
                session.elapsedNanos().isPresent()
                        ? elapsed(session.elapsedNanos().getAsLong())
                        : "-");
        if (profile.family().size() > 1) {
            facts.add(grouped(profile.family().size()) + " processes");
        }
        facts.add(session.threads() == 1 ? "1 thread" : grouped(session.threads()) + " threads");
        facts.add(grouped(profile.functions().size()) + " functions, " + grouped(called) + " called");
        facts.add(mode(profile));
        profile.probePercent().ifPresent(percent -> facts.add(String.format(Locale.ROOT, "probes %.1f %%", percent)));
        profile.agentPercent()
                .ifPresent(percent -> facts.add(String.format(Locale.ROOT, "agent's CPU %.1f %%", percent)));
        if (session.exitSignal().orElse(0) > 0) {
            facts.add("killed by signal " + session.exitSignal().getAsInt());
        } else if (session.exitStatus().orElse(0) > 0) {
            facts.add("exit status " + session.exitStatus().getAsInt());
        }
        facts.add("session " + printable(session.id()));
        return String.join(" · ", facts);
    }

    /// In the time of day of whoever reads it.
    private static String time(Instant instant) {
        return TIME.format(instant.atZone(ZoneId.systemDefault()));
    }

    /// How calls are recorded, and what their durations are.
    public static String mode(Profile profile) {
        return (profile.session().exact() ? "exact" : sampled(profile))
                + (profile.session().cpuTime() ? ", CPU time" : "");
    }

    private static String sampled(Profile profile) {
        OptionalDouble budget = profile.session().budgetPercent();
        long exact = profile.functions().stream().filter(FunctionProfile::exact).count();
        return "sampled"
                + (budget.isEmpty()
                        ? ""
                        : " for " + Quantity.percent(budget.getAsDouble()).text())
                + (exact == 0 ? "" : ", " + grouped(exact) + " exact")
                + (isBudgetExceeded(profile) ? ": over the budget" : "");
    }

    private static boolean isBudgetExceeded(Profile profile) {
        OptionalDouble budget = profile.session().budgetPercent();
        return budget.isPresent() && profile.everyCallPercent().orElse(0) > budget.getAsDouble();
    }

    private void table(Profile profile, List<FunctionProfile> shown, Appendable out) throws IOException {
        double seconds = profile.session().elapsedNanos().orElse(0) / 1e9;
        Whole whole = Whole.of(profile);
        List<Column> columns = List.of(
                new Column("CALLS", true),
                new Column("RATE", false),
                new Column("SELF", true),
                new Column("TOTAL", true),
                new Column("p50", false),
                new Column("p90", false),
                new Column("p99", false),
                new Column("p99.9", false),
                new Column("max", false));
        for (FunctionProfile function : shown) {
            Latency latency = function.latency();
            Quantity calls = Quantity.count(function.calls());
            columns.get(0)
                    .add(
                            function.callsError().isPresent()
                                    ? calls.plusMinus(function.callsError().getAsDouble())
                                    : calls);
            columns.get(1).add(seconds > 0 ? Quantity.rate(function.calls() / seconds) : Quantity.UNKNOWN);
            columns.get(2).add(whole.part(function.selfNanos()));
            columns.get(3).add(whole.part(function.totalNanos()));
            columns.get(4).add(duration(latency.percentileNanos(50)));
            columns.get(5).add(duration(latency.percentileNanos(90)));
            columns.get(6).add(duration(latency.percentileNanos(99)));
            columns.get(7).add(duration(latency.percentileNanos(99.9)));
            columns.get(8).add(duration(latency.maxNanos()));
        }
        double[] bounds = bounds(shown);
        String range = powerOfTen(bounds[0]) + ".." + powerOfTen(bounds[BAR_COUNT]);
        int taken = columns.stream().mapToInt(column -> 2 + column.width()).sum() + 2 + BAR_COUNT;
        int room = width == 0 ? NAME_WIDTH_MAX : Math.clamp(width - taken, NAME_WIDTH_MIN, NAME_WIDTH_MAX);
        List<String> names =
                shown.stream().map(f -> ShortName.of(printable(f.name()), room)).toList();
        int nameWidth = Math.max(
                "FUNCTION".length(),
                names.stream().mapToInt(ShortName::columns).max().orElse(0));

        StringBuilder line = new StringBuilder(pad("FUNCTION", nameWidth));
        line.append(Column.titles(columns)).append("  LATENCY ").append(range);
        out.append(dim(line.toString())).append('\n');
        for (int i = 0; i < shown.size(); i++) {
            line.setLength(0);
            line.append(pad(names.get(i), nameWidth));
            line.append(Column.cells(columns, i))
                    .append("  ")
                    .append(bars(shown.get(i).latency(), bounds));
            out.append(line.toString().stripTrailing()).append('\n');
        }
    }

    /// Those with the most calls, in the order of their starts.
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
                    "+" + elapsed(nanos(start, process.started())),
                    process.ended() == null ? "-" : elapsed(nanos(process.started(), process.ended())),
                    grouped(process.calls())));
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
            out.append(dim("and " + grouped(others) + " more, with " + grouped(calls) + " calls (--limit)"))
                    .append('\n');
        }
    }

    /// Of a damaged file the two may be further apart than a long can say.
    private static long nanos(Instant from, Instant to) {
        Duration passed = Duration.between(from, to);
        return passed.isNegative() || passed.toDays() > DAYS_MAX ? 0 : passed.toNanos();
    }

    private static String end(ProcessProfile process) {
        if (process.runs()) {
            return "runs";
        }
        return process.exitStatus().isPresent()
                ? "exit status " + process.exitStatus().getAsInt()
                : "killed, or executed another program";
    }

    /// What 100 % is: all time in probed functions where self times are measured, else the time that the program ran,
    /// which each of its threads has once.
    private record Whole(double nanos, double mostPercent) {
        static Whole of(Profile profile) {
            if (profile.session().exact() && profile.selfNanos() > 0) {
                return new Whole((double) profile.selfNanos(), 100);
            }
            SessionFacts session = profile.session();
            return new Whole((double) session.elapsedNanos().orElse(0), 100.0 * Math.max(1, session.threads()));
        }

        /// A sum above the most that there can be has calls within calls in it and says nothing as a part: shown is
        /// the most, with a mark.
        Quantity part(OptionalLong part) {
            if (part.isEmpty() || nanos <= 0) {
                return Quantity.UNKNOWN;
            }
            return exceeds(part, mostPercent)
                    ? Quantity.percent(mostPercent).marked()
                    : Quantity.percent(percent(part));
        }

        /// By more than what is rounded away.
        boolean exceeds(OptionalLong part, double percent) {
            return nanos > 0 && percent(part) >= percent + 0.05;
        }

        private double percent(OptionalLong part) {
            return 100 * part.orElse(0) / nanos;
        }
    }

    /// Explains those parts that are not what a reader expects.
    private static List<String> notes(Profile profile, List<FunctionProfile> shown) {
        Whole whole = Whole.of(profile);
        List<String> notes = new ArrayList<>();
        if (whole.mostPercent > 100 && shown.stream().anyMatch(f -> whole.exceeds(f.totalNanos(), 100))) {
            notes.add("TOTAL is of the time that the program ran, which each of its threads has once");
        }
        if (shown.stream().anyMatch(f -> whole.exceeds(f.totalNanos(), whole.mostPercent))) {
            notes.add("* recursive: nested calls are counted again"
                    + (profile.session().exact() ? "" : ", or estimated too high"));
        }
        return notes;
    }

    public static Quantity duration(OptionalLong nanos) {
        return nanos.isPresent() ? Quantity.duration(nanos.getAsLong()) : Quantity.UNKNOWN;
    }

    /// Powers of ten around all durations shown, with equal steps of the logarithm between them.
    static double[] bounds(List<FunctionProfile> shown) {
        long min = Long.MAX_VALUE;
        long max = 1;
        for (FunctionProfile function : shown) {
            min = Math.min(min, function.latency().minNanos().orElse(Long.MAX_VALUE));
            max = Math.max(max, function.latency().maxNanos().orElse(1));
        }
        double low = Math.floor(Math.log10((double) Math.max(1, Math.min(min, max))));
        double high = Math.max(low + 1, Math.ceil(Math.log10((double) max)));
        double[] bounds = new double[BAR_COUNT + 1];
        for (int i = 0; i <= BAR_COUNT; i++) {
            bounds[i] = Math.pow(10, low + (high - low) * i / BAR_COUNT);
        }
        return bounds;
    }

    static String powerOfTen(double nanos) {
        Quantity duration = Quantity.duration(Math.round(nanos));
        return duration.whole() + duration.unit();
    }

    static String bars(Latency latency, double[] bounds) {
        if (!latency.known()) {
            return "";
        }
        long[] spread = latency.spread(bounds);
        long most = 1;
        for (long count : spread) {
            most = Math.max(most, count);
        }
        StringBuilder bars = new StringBuilder();
        for (long count : spread) {
            int height = (int) Math.ceil((double) count / most * BARS.length());
            bars.append(count == 0 ? ' ' : BARS.charAt(Math.clamp(height - 1, 0, BARS.length() - 1)));
        }
        return bars.toString();
    }

    private String footer(Profile profile, int called, int shown) {
        if (profile.functions().isEmpty()) {
            return profile.session().armed()
                    ? "no function has probes"
                    : "no probes were in place: mdl doctor PROGRAM explains";
        }
        if (called == 0) {
            return "no call was seen";
        }
        return grouped(called) + (called == 1 ? " function" : " functions")
                + (shown < called ? " · " + grouped(shown) + " shown (--limit)" : "")
                + " · sorted by " + order.name().toLowerCase(Locale.ROOT) + " (--sort)";
    }

    /// What the reader of any report has to know before the figures are trusted.
    public static List<String> warnings(Profile profile) {
        List<String> warnings = new ArrayList<>();
        if (profile.session().state() == SessionFacts.State.AGENT_DEAD) {
            warnings.add("the agent failed in this run; its log, agent.log in the session's directory, says why");
        }
        long orphans = profile.family().processes().stream()
                .filter(ProcessProfile::runs)
                .count();
        boolean agentRuns = profile.family().processes().stream().anyMatch(one -> one.agent() && one.runs());
        if (orphans > 0 && !agentRuns) {
            warnings.add("the process that had the agent has ended; " + grouped(orphans)
                    + (orphans == 1 ? " process goes" : " processes go") + " on without probes");
        }
        if (isBudgetExceeded(profile)) {
            warnings.add("recording every call of functions costs "
                    + Quantity.percent(profile.everyCallPercent().orElse(0)).text()
                    + " of the time, more than the budget: the others are sampled within a tenth of it");
        }
        if (profile.dropped() > 0) {
            warnings.add(grouped(profile.dropped()) + " calls were not timed for want of room");
        }
        if (profile.unseenThreads() > 0) {
            warnings.add(grouped(profile.unseenThreads()) + " threads were not seen for want of room");
        }
        TimeRange range = profile.range();
        if (range != null && range.leftOut() > 0) {
            warnings.add("the slices of this time had no room for " + grouped(range.leftOut())
                    + " functions with less time, counted slice by slice");
        }
        if (profile.unmatched() > 0) {
            warnings.add(grouped(profile.unmatched()) + " calls were left by a jump or an exception");
        }
        return warnings;
    }

    public static String elapsed(long nanos) {
        double seconds = nanos / 1e9;
        if (seconds < 60) {
            return String.format(Locale.ROOT, seconds < 1 ? "%.3f s" : "%.1f s", seconds);
        }
        long rounded = Math.round(seconds);
        return rounded < 3600
                ? String.format(Locale.ROOT, "%d:%02d min", rounded / 60, rounded % 60)
                : String.format(Locale.ROOT, "%d:%02d:%02d h", rounded / 3600, rounded / 60 % 60, rounded % 60);
    }

    public static String grouped(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    public static String baseName(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /// Names come from files that anybody may have made: no control character of theirs reaches a terminal.
    public static String printable(String text) {
        StringBuilder printable = new StringBuilder(text.length());
        text.codePoints().forEach(c -> printable.appendCodePoint(isPrintable(c) ? c : '?'));
        return printable.toString();
    }

    private static boolean isPrintable(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.UNASSIGNED -> false;
            default -> true;
        };
    }

    static String pad(String text, int width) {
        return text + " ".repeat(Math.max(0, width - ShortName.columns(text)));
    }

    private String bold(String text) {
        return new Style(colour).bold(text);
    }

    private String dim(String text) {
        return new Style(colour).dim(text);
    }

    /// Cells below each other: decimal points line up where all have one unit, else the ends of the cells.
    static final class Column {
        private final String title;
        private final boolean onPoint;
        private final List<Quantity> cells = new ArrayList<>();
        private int whole;
        private int unit;
        private int tail;

        Column(String title, boolean onPoint) {
            this.title = title;
            this.onPoint = onPoint;
        }

        void add(Quantity cell) {
            cells.add(cell);
            if (!onPoint) {
                whole = Math.max(whole, cell.text().length());
                return;
            }
            whole = Math.max(whole, cell.whole().length());
            unit = Math.max(unit, cell.fraction().length() + cell.unit().length());
            tail = Math.max(tail, cell.tail().length());
        }

        /// The titles of columns beside each other.
        static String titles(List<Column> columns) {
            return columns.stream().map(column -> "  " + column.title()).collect(Collectors.joining());
        }

        /// One cell of each.
        static String cells(List<Column> columns, int row) {
            return columns.stream().map(column -> "  " + column.cell(row)).collect(Collectors.joining());
        }

        int width() {
            return Math.max(title.length(), whole + unit + tail);
        }

        String title() {
            return " ".repeat(width() - title.length()) + title;
        }

        String cell(int i) {
            Quantity cell = cells.get(i);
            if (!onPoint) {
                return " ".repeat(width() - cell.text().length()) + cell.text();
            }
            String text = " ".repeat(whole - cell.whole().length())
                    + cell.whole()
                    + pad(cell.fraction() + cell.unit(), unit)
                    + pad(cell.tail(), tail);
            return " ".repeat(width() - text.length()) + text;
        }
    }
}
