package org.mdlagent.profiler.report.format;

import java.io.IOException;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Run;
import org.mdlagent.profiler.report.statistics.Comparison;
import org.mdlagent.profiler.report.statistics.FunctionChange;
import org.mdlagent.profiler.text.BaseName;
import org.mdlagent.profiler.text.ForeignText;

/// Two runs for people: each function's time before and after, with sampling errors.
///
/// @param limit  functions to show
/// @param colour whether the output supports ANSI colours
public record ComparisonTable(int limit, boolean colour) {
    private static final int NAME_WIDTH_MAX = 48;
    private static final String UNKNOWN_CHANCE =
            "Runs of one build differ as well, and two runs do not show by how much: mdl diff --runs 10 A -- B does.";
    static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss", Locale.ROOT).withZone(ZoneId.systemDefault());

    public void write(Comparison comparison, Appendable out) throws IOException {
        Style style = new Style(colour);
        out.append(style.bold("before  " + facts(comparison.before()))).append('\n');
        out.append(style.bold("after   " + facts(comparison.after()))).append('\n');
        List<FunctionChange> shown = comparison
                .changes()
                .subList(0, Math.min(limit, comparison.changes().size()));
        if (!shown.isEmpty()) {
            table(shown, style, comparison.before(), comparison.after(), out);
        }
        out.append(style.dim(footer(comparison, shown.size()))).append('\n');
        out.append(style.dim(UNKNOWN_CHANCE)).append('\n');
    }

    private static String facts(Run run) {
        List<String> facts = new ArrayList<>();
        facts.add(ForeignText.printable(BaseName.of(run.program())));
        facts.add(TIME.format(run.started()));
        run.elapsedNanos().ifPresent(nanos -> facts.add(PlainText.elapsed(nanos)));
        facts.add(run.mode());
        facts.add("build " + ForeignText.printable(Run.shortBuild(run.build(run.program()))));
        facts.add("session " + ForeignText.printable(run.id()));
        return String.join(" · ", facts);
    }

    private static void table(List<FunctionChange> shown, Style style, Run before, Run after, Appendable out)
            throws IOException {
        List<String> names = shown.stream()
                .map(change ->
                        ShortName.of(ForeignText.printable(change.function().name()), NAME_WIDTH_MAX))
                .toList();
        int width = Math.max(
                "FUNCTION".length(),
                names.stream().mapToInt(ShortName::columns).max().orElse(0));
        List<TextColumn> columns = columns(shown, before, after);
        StringBuilder line = new StringBuilder(PlainText.pad("FUNCTION", width));
        line.append(TextColumn.titles(columns));
        out.append(style.dim(line.toString())).append('\n');
        for (int i = 0; i < shown.size(); i++) {
            line.setLength(0);
            line.append(PlainText.pad(names.get(i), width));
            line.append(TextColumn.cells(columns, i));
            out.append(line.toString().stripTrailing()).append('\n');
        }
    }

    private static List<TextColumn> columns(List<FunctionChange> shown, Run before, Run after) {
        Function<FunctionProfile, OptionalLong> p50 = function -> function.percentileNanos(50);
        Function<FunctionProfile, OptionalLong> p99 = function -> function.percentileNanos(99);
        TextColumn[] columns = {
            new TextColumn("p50", false),
            new TextColumn("NOW", false),
            new TextColumn("CHANGE", true),
            new TextColumn("p99", false),
            new TextColumn("NOW", false),
            new TextColumn("CHANGE", true),
            new TextColumn("TOTAL", false),
            new TextColumn("NOW", false),
            new TextColumn("CHANGE", true),
            new TextColumn("RATE", true)
        };
        for (FunctionChange change : shown) {
            columns[0].add(duration(change.before(), p50));
            columns[1].add(duration(change.after(), p50));
            columns[2].add(changed(change, p50));
            columns[3].add(duration(change.before(), p99));
            columns[4].add(duration(change.after(), p99));
            columns[5].add(changed(change, p99));
            OptionalDouble was = part(change.before(), before, FunctionProfile::shownTotalNanos);
            OptionalDouble is = part(change.after(), after, FunctionProfile::shownTotalNanos);
            columns[6].add(percent(was));
            columns[7].add(percent(is));
            columns[8].add(withError(changed(change, was, is), was, is, change.totalError()));
            OptionalDouble rateWas = part(change.before(), before, FunctionProfile::shownCalls);
            OptionalDouble rateIs = part(change.after(), after, FunctionProfile::shownCalls);
            columns[9].add(withError(changed(change, rateWas, rateIs), rateWas, rateIs, change.callsError()));
        }
        return List.of(columns);
    }

    private static Quantity duration(@Nullable FunctionProfile function, Function<FunctionProfile, OptionalLong> of) {
        return function == null ? Quantity.UNKNOWN : PlainText.duration(of.apply(function));
    }

    /// A function's figure per nanosecond measured: runs may differ in length.
    private static OptionalDouble part(
            @Nullable FunctionProfile function, Run run, Function<FunctionProfile, OptionalLong> of) {
        long nanos = run.measuredNanos().orElse(0);
        OptionalLong figure = function == null ? OptionalLong.empty() : of.apply(function);
        return figure.isPresent() && nanos > 0
                ? OptionalDouble.of((double) figure.getAsLong() / nanos)
                : OptionalDouble.empty();
    }

    private static Quantity percent(OptionalDouble part) {
        return part.isPresent() ? Quantity.percent(100 * part.getAsDouble()) : Quantity.UNKNOWN;
    }

    private static Quantity changed(FunctionChange change, Function<FunctionProfile, OptionalLong> of) {
        return changed(change, known(change.before(), of), known(change.after(), of));
    }

    private static OptionalDouble known(
            @Nullable FunctionProfile function, Function<FunctionProfile, OptionalLong> of) {
        OptionalLong figure = function == null ? OptionalLong.empty() : of.apply(function);
        return figure.isPresent() ? OptionalDouble.of(figure.getAsLong()) : OptionalDouble.empty();
    }

    private static Quantity changed(FunctionChange change, OptionalDouble was, OptionalDouble is) {
        if (change.before() == null) {
            return new Quantity("new", "", "", "");
        }
        if (change.after() == null) {
            return new Quantity("gone", "", "", "");
        }
        return was.orElse(0) > 0 && is.isPresent()
                ? Quantity.change(was.getAsDouble(), is.getAsDouble())
                : Quantity.UNKNOWN;
    }

    /// A change with its sampling error in percentage points; without it if nothing was sampled.
    private static Quantity withError(
            Quantity change, OptionalDouble was, OptionalDouble is, OptionalDouble relativeError) {
        return was.orElse(0) > 0 && is.orElse(0) > 0 && relativeError.isPresent()
                ? change.plusMinusPoints(100 * is.getAsDouble() / was.getAsDouble() * relativeError.getAsDouble())
                : change;
    }

    private static String footer(Comparison comparison, int shown) {
        int all = comparison.changes().size();
        return PlainText.grouped(all)
                + (all == 1 ? " function" : " functions")
                + (shown < all ? " · " + PlainText.grouped(shown) + " shown (--limit)" : "")
                + " · ± the error of sampling within these two runs, in percentage points";
    }
}
