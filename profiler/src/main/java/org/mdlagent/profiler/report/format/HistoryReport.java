package org.mdlagent.profiler.report.format;

import java.io.IOException;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.stream.Collectors;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Latency;
import org.mdlagent.profiler.report.profile.Run;
import org.mdlagent.profiler.text.BaseName;
import org.mdlagent.profiler.text.ForeignText;
import org.mdlagent.profiler.text.JsonWriter;

/// One function over several runs.
///
/// @param entries oldest first
public record HistoryReport(List<Entry> entries) {
    private static final DateTimeFormatter INSTANT = DateTimeFormatter.ISO_OFFSET_DATE_TIME;

    /// The function in one run.
    public record Entry(Run run, FunctionProfile function) {
        String build() {
            return run.build(function.image());
        }
    }

    public HistoryReport {
        entries = List.copyOf(entries);
    }

    /// One report for each function that a pattern matches.
    public static List<HistoryReport> ofEach(List<Entry> entries) {
        return entries.stream()
                .collect(Collectors.groupingBy(
                        entry -> entry.function().symbol()
                                + "\0"
                                + BaseName.of(entry.function().image()),
                        LinkedHashMap::new,
                        Collectors.toList()))
                .values()
                .stream()
                .map(HistoryReport::new)
                .toList();
    }

    /// For people: one line per run with its distribution.
    public void table(boolean colour, Appendable out) throws IOException {
        Style style = new Style(colour);
        FunctionProfile newest = entries.getLast().function();
        out.append(style.bold(ForeignText.printable(newest.name()) + " · " + ForeignText.printable(newest.image())))
                .append('\n');
        TextColumn[] columns = {
            new TextColumn("BUILD", false),
            new TextColumn("CALLS", true),
            new TextColumn("TOTAL", false),
            new TextColumn("MEAN", false),
            new TextColumn("p50", false),
            new TextColumn("p99", false),
            new TextColumn("max", false)
        };
        for (Entry entry : entries) {
            FunctionProfile function = entry.function();
            Latency latency = function.latency();
            String build = ForeignText.printable(Run.shortBuild(entry.build()));
            columns[0].add(new Quantity(build, "", "", ""));
            columns[1].add(Quantity.calls(function));
            columns[2].add(PlainText.duration(function.shownTotalNanos()));
            columns[3].add(PlainText.duration(latency.meanNanos()));
            columns[4].add(PlainText.duration(function.percentileNanos(50)));
            columns[5].add(PlainText.duration(function.percentileNanos(99)));
            columns[6].add(PlainText.duration(latency.maxNanos()));
        }
        rows(List.of(columns), style, out);
    }

    private void rows(List<TextColumn> columns, Style style, Appendable out) throws IOException {
        double[] bounds =
                LatencyBars.bounds(entries.stream().map(Entry::function).toList());
        StringBuilder line = new StringBuilder("STARTED            ");
        line.append(TextColumn.titles(columns));
        line.append("  LATENCY ")
                .append(LatencyBars.powerOfTen(bounds[0]))
                .append("..")
                .append(LatencyBars.powerOfTen(bounds[bounds.length - 1]));
        out.append(style.dim(line.toString())).append('\n');
        for (int i = 0; i < entries.size(); i++) {
            Entry entry = entries.get(i);
            line.setLength(0);
            line.append(ComparisonTable.TIME.format(entry.run().started()));
            line.append(TextColumn.cells(columns, i));
            line.append("  ")
                    .append(PlainText.pad(LatencyBars.of(entry.function().latency(), bounds), bounds.length - 1))
                    .append("  ")
                    .append(ForeignText.printable(entry.run().id()));
            out.append(line).append('\n');
        }
    }

    /// For scripts: an array of runs, each with the function's figures as in the JSON report.
    public void json(Appendable out) throws IOException {
        JsonWriter json = new JsonWriter(out);
        json.beginArray();
        for (Entry entry : entries) {
            json.element().beginObject();
            json.name("run").beginObject();
            ComparisonJson.members(entry.run(), json);
            json.endObject();
            json.member("build", entry.build());
            JsonReport.function(entry.function(), json);
            json.endObject();
        }
        json.endArray();
        out.append('\n');
    }

    /// For spreadsheets (RFC 4180): durations in nanoseconds; unknown values are empty.
    public void csv(Appendable out) throws IOException {
        CsvReport.row(
                List.of(
                        "started",
                        "session",
                        "build",
                        "name",
                        "image",
                        "calls",
                        "totalNanos",
                        "meanNanos",
                        "p50Nanos",
                        "p99Nanos",
                        "maxNanos"),
                out);
        for (Entry entry : entries) {
            FunctionProfile function = entry.function();
            Latency latency = function.latency();
            CsvReport.row(
                    List.of(
                            INSTANT.format(entry.run().started().atOffset(ZoneOffset.UTC)),
                            entry.run().id(),
                            entry.build(),
                            function.name(),
                            function.image(),
                            Long.toString(function.calls()),
                            CsvReport.text(function.shownTotalNanos()),
                            CsvReport.text(latency.meanNanos()),
                            CsvReport.text(function.percentileNanos(50)),
                            CsvReport.text(function.percentileNanos(99)),
                            CsvReport.text(latency.maxNanos())),
                    out);
        }
    }
}
