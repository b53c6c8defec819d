package org.mdlagent.profiler.report.format;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.mdlagent.profiler.report.profile.Coverage;
import org.mdlagent.profiler.report.profile.NotProbed;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.text.ForeignText;

/// The report for people of a coverage session: images, and below each its source files.
///
/// @param limit  source files of an image to show, those with the most functions that were not called
/// @param colour whether the output understands ANSI colours
public record CoverageTable(int limit, boolean colour) {
    private static final String UNKNOWN_FILE = "(no source file known)";

    private record Row(String name, Coverage.Sum sum) {}

    /// @param notProbed what is known of functions without probes
    public void write(Profile profile, List<NotProbed> notProbed, Appendable out) throws IOException {
        Coverage coverage = Coverage.of(profile, notProbed);
        Style style = new Style(colour);
        out.append(style.bold(TableReport.facts(profile, coverage.sum().called())))
                .append('\n');
        if (coverage.images().isEmpty()) {
            out.append(style.dim(TableReport.withoutFunctions(profile.session())))
                    .append('\n');
        } else {
            table(rows(coverage), style, out);
        }
        for (Coverage.OfImage image : coverage.images()) {
            NotProbed without = image.notProbed();
            if (without != null) {
                out.append(style.dim(ForeignText.printable(image.image()) + ": "
                                + PlainText.grouped(without.functions()) + " functions have no probe: "
                                + without.reasons()))
                        .append('\n');
            }
        }
        for (String warning : ProfileNotes.warnings(profile)) {
            out.append("mdl: ").append(warning).append('\n');
        }
    }

    private List<Row> rows(Coverage coverage) {
        List<Row> rows = new ArrayList<>();
        for (Coverage.OfImage image : coverage.images()) {
            rows.add(new Row(ForeignText.printable(image.image()), image.sum()));
            List<Coverage.OfFile> shown = image.files().stream()
                    .sorted((a, b) -> Integer.compare(notCalled(b), notCalled(a)))
                    .limit(limit)
                    .toList();
            for (Coverage.OfFile file : image.files()) {
                if (shown.contains(file)) {
                    String name = file.file() == null ? UNKNOWN_FILE : ForeignText.printable(file.file());
                    rows.add(new Row("  " + name, file.sum()));
                }
            }
        }
        rows.add(new Row("all", coverage.sum()));
        return rows;
    }

    private static int notCalled(Coverage.OfFile file) {
        return file.sum().probed() - file.sum().called();
    }

    private static void table(List<Row> rows, Style style, Appendable out) throws IOException {
        List<TextColumn> columns = List.of(
                new TextColumn("FUNCTIONS", true), new TextColumn("CALLED", true), new TextColumn("PART", true));
        int width = 0;
        for (Row row : rows) {
            columns.get(0).add(exactly(row.sum.probed()));
            columns.get(1).add(exactly(row.sum.called()));
            columns.get(2).add(Quantity.percent(row.sum.percent()));
            width = Math.max(width, ShortName.columns(row.name));
        }
        out.append(style.dim(PlainText.pad("IMAGE, FILE", width) + TextColumn.titles(columns)))
                .append('\n');
        for (int i = 0; i < rows.size(); i++) {
            String line = PlainText.pad(rows.get(i).name, width) + TextColumn.cells(columns, i);
            out.append(line.stripTrailing()).append('\n');
        }
    }

    private static Quantity exactly(int count) {
        return new Quantity(PlainText.grouped(count), "", "", "");
    }
}
