package org.mdlagent.profiler.report.format;

import java.io.IOException;
import java.util.List;
import org.mdlagent.profiler.report.profile.Run;
import org.mdlagent.profiler.text.ForeignText;

/// A table of the stored runs, for people.
public final class RunTable {
    private RunTable() {}

    /// Writes them in the given order.
    public static void write(List<Run> runs, boolean colour, Appendable out) throws IOException {
        TextColumn[] columns = {
            new TextColumn("RAN", false), new TextColumn("BUILD", false), new TextColumn("MODE", false)
        };
        for (Run run : runs) {
            String elapsed = run.elapsedNanos().isPresent()
                    ? PlainText.elapsed(run.elapsedNanos().getAsLong())
                    : "-";
            columns[0].add(new Quantity(elapsed, "", "", ""));
            String build = ForeignText.printable(Run.shortBuild(run.build(run.program())));
            columns[1].add(new Quantity(build, "", "", ""));
            columns[2].add(new Quantity(run.mode(), "", "", ""));
        }
        List<TextColumn> shown = List.of(columns);
        StringBuilder line = new StringBuilder("STARTED            ");
        line.append(TextColumn.titles(shown));
        line.append("  SESSION");
        out.append(new Style(colour).dim(line.toString())).append('\n');
        for (int i = 0; i < runs.size(); i++) {
            line.setLength(0);
            line.append(ComparisonTable.TIME.format(runs.get(i).started()));
            line.append(TextColumn.cells(shown, i));
            line.append("  ").append(ForeignText.printable(runs.get(i).id()));
            out.append(line).append('\n');
        }
    }
}
