package org.mdlagent.profiler.report.format;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.mdlagent.profiler.report.profile.Run;
import org.mdlagent.profiler.report.statistics.SeriesChange;
import org.mdlagent.profiler.report.statistics.SeriesComparison;
import org.mdlagent.profiler.report.statistics.SeriesTest;
import org.mdlagent.profiler.text.BaseName;
import org.mdlagent.profiler.text.ForeignText;

/// Two series of runs for people: what changed, with confidence bounds, and the smallest change that such
/// runs can detect.
///
/// @param limit  functions to show
/// @param colour whether the output supports ANSI colours
public record SeriesTable(int limit, boolean colour) {
    private static final int NAME_WIDTH_MAX = 48;
    private static final String PROGRAM = "(program)";

    public void write(SeriesComparison comparison, Appendable out) throws IOException {
        Style style = new Style(colour);
        out.append(style.bold("A  " + facts(comparison.before()))).append('\n');
        out.append(style.bold("B  " + facts(comparison.after()))).append('\n');
        List<SeriesChange> shown = comparison
                .changes()
                .subList(0, Math.min(limit, comparison.changes().size()));
        table(comparison.program(), shown, style, out);
        for (String line : footer(comparison, shown.size())) {
            out.append(style.dim(line)).append('\n');
        }
    }

    private static String facts(List<Run> runs) {
        Run first = runs.getFirst();
        return String.join(
                " · ",
                ForeignText.printable(BaseName.of(first.program())),
                runs.size() + " runs",
                first.mode(),
                "build " + ForeignText.printable(Run.shortBuild(first.build(first.program()))));
    }

    private static void table(SeriesChange.Figure program, List<SeriesChange> shown, Style style, Appendable out)
            throws IOException {
        List<String> names = new ArrayList<>(List.of(PROGRAM));
        for (SeriesChange change : shown) {
            names.add(ShortName.of(ForeignText.printable(change.function().name()), NAME_WIDTH_MAX));
        }
        int width = names.stream().mapToInt(ShortName::columns).max().orElse(0);
        TextColumn[] columns = {
            new TextColumn("CALLS", true),
            new TextColumn("NOW", true),
            new TextColumn("TYPICAL", false),
            new TextColumn("NOW", false),
            new TextColumn("CHANGE", true)
        };
        columns[0].add(Quantity.NONE);
        columns[1].add(Quantity.NONE);
        figure(program, columns);
        for (SeriesChange change : shown) {
            columns[0].add(Quantity.count(Math.round(change.calls())));
            columns[1].add(Quantity.count(Math.round(change.callsNow())));
            figure(change.typical(), columns);
        }
        StringBuilder line = new StringBuilder(PlainText.pad("FUNCTION", width));
        line.append(TextColumn.titles(List.of(columns)));
        out.append(style.dim(line.toString())).append('\n');
        for (int i = 0; i < names.size(); i++) {
            line.setLength(0);
            line.append(PlainText.pad(names.get(i), width));
            line.append(TextColumn.cells(List.of(columns), i));
            out.append(line.toString().stripTrailing()).append('\n');
        }
    }

    private static void figure(SeriesChange.Figure figure, TextColumn[] columns) {
        SeriesTest test = figure.test();
        columns[2].add(Quantity.duration(Math.round(test.before())));
        columns[3].add(Quantity.duration(Math.round(test.after())));
        Quantity change = Quantity.change(test.before(), test.after())
                .plusMinusPoints((test.highPercent() - test.lowPercent()) / 2);
        boolean changed = figure.isSlower() || figure.isFaster();
        columns[4].add(changed ? change.withTail(change.tail() + " " + figure.verdict()) : change);
    }

    private static List<String> footer(SeriesComparison comparison, int shown) {
        int tested = comparison.changes().size();
        List<SeriesChange> slower =
                comparison.changes().stream().filter(SeriesChange::isSlower).toList();
        List<String> lines = new ArrayList<>();
        lines.add("%s of %s functions tested%s · ± half of the 95 %% interval, in percentage points"
                .formatted(
                        PlainText.grouped(tested),
                        PlainText.grouped(tested + comparison.untested()),
                        shown < tested ? " · " + PlainText.grouped(shown) + " shown (--limit)" : ""));
        String threshold = percent(comparison.thresholdPercent());
        String said = "slower by more than " + threshold + " (--threshold): "
                + (slower.isEmpty()
                        ? "no function"
                        : PlainText.grouped(slower.size()) + (slower.size() == 1 ? " function" : " functions"))
                + (comparison.program().isSlower() ? ", and the program" : "");
        lines.add(said + " · equal builds look slower in 1 of " + Math.round(1 / SeriesComparison.LEVEL)
                + " comparisons at most");
        StringBuilder visible = new StringBuilder("these runs show a slowdown of ")
                .append(percent(comparison.visibleInProgramPercent()))
                .append(" of the program");
        comparison
                .visibleInFunctionsPercent()
                .ifPresent(growth ->
                        visible.append(", of ").append(percent(growth)).append(" of half of the functions"));
        lines.add(visible + "; more runs show less");
        return lines;
    }

    private static String percent(double percent) {
        return percent >= 999.5
                ? "1000 % or more"
                : String.format(Locale.ROOT, percent < 99.95 ? "%.1f %%" : "%.0f %%", percent);
    }
}
