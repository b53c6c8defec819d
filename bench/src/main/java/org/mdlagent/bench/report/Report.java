package org.mdlagent.bench.report;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.mdlagent.bench.tools.SourceTree;

/// A benchmark's output, also written to a file in `bench/results`, with the raw values.
///
/// An interrupted benchmark does not change an earlier result's file.
public final class Report implements AutoCloseable {
    /// Start of the benchmark, or end of its last report: values may be measured before they are reported.
    private static Instant start = ProcessHandle.current().info().startInstant().orElseThrow();

    private final String name;
    private final Path written;
    private final PrintStream file;

    public Report(String name, Machine machine) throws IOException {
        this.name = name;
        written = SourceTree.scratch("report").resolve(name + ".txt");
        file = new PrintStream(Files.newOutputStream(written), false, StandardCharsets.UTF_8);
        file.println(Instant.now().truncatedTo(ChronoUnit.SECONDS));
        line(machine.toString());
    }

    /// A line for readers.
    public void line(String line) {
        System.out.println(line);
        file.println(line);
    }

    /// A line for the file only.
    public void raw(String line) {
        file.println(line);
    }

    /// Titles of columns for [#row].
    public void heading(String title) {
        line(String.format(Locale.ROOT, "%-52s %12s %12s %12s  %s", title, "BEST", "MEDIAN", "WORST", "TARGET"));
    }

    /// A line with the least, the median and the greatest of some values, and these for the file.
    public void row(String what, double[] values) {
        row(what, values, null);
    }

    /// The same of what has a target.
    ///
    /// @param of    what the values are of, for the table of targets
    /// @param peers as in [#figure]
    public void row(String what, double[] values, Target target, String of, String peers) {
        row(what, values, target);
        figure(target, of, Percentile.median(values), peers);
    }

    private void row(String what, double[] values, @Nullable Target target) {
        double median = Percentile.median(values);
        line(String.format(
                Locale.ROOT,
                "%-52s %,12.2f %,12.2f %,12.2f  %s",
                what,
                Percentile.of(values, 0),
                median,
                Percentile.of(values, 100),
                target == null ? "-" : target.verdict(median)));
        raw("raw " + what + ": " + Arrays.toString(values));
    }

    /// A result compared with a target, for the first table of `RESULTS.md`.
    ///
    /// @param of     what was measured of the target's kind
    /// @param figure in the target's unit
    /// @param peers  figures of peers, from [#peer], separated by `; `; may be empty
    public void figure(Target target, String of, double figure, String peers) {
        raw(String.join("\t", Results.FIGURE, target.name(), of, Double.toString(figure), peers));
    }

    /// @param figure in the target's unit
    public static String peer(String who, double figure) {
        return who + String.format(Locale.ROOT, Math.abs(figure) < 100 ? " %,.2f" : " %,.0f", figure);
    }

    /// A part of a figure, for the table of missed targets.
    ///
    /// @param of    as of the figure
    /// @param value in the target's unit
    public void part(Target target, String of, String what, double value) {
        raw(String.join("\t", Results.PART, target.name(), of, what, Double.toString(value)));
    }

    /// A plot, which `RESULTS.md` shows below the lines.
    ///
    /// @param of tells this report's pictures apart: a part of the file's name
    public void plot(String of, Plot plot) throws IOException {
        String svg = name + "-" + of + ".svg";
        plot.write(SourceTree.results(svg));
        raw(String.join("\t", Results.PLOT, svg, plot.title()));
    }

    @Override
    public void close() throws IOException {
        line("");
        Instant end = Instant.now();
        line(String.format(
                Locale.ROOT, "Measured in %,d s.", Duration.between(start, end).toSeconds()));
        start = end;
        file.close();
        if (file.checkError()) {
            throw new IOException(written + " cannot be written");
        }
        Files.move(written, SourceTree.results(name + ".txt"), StandardCopyOption.REPLACE_EXISTING);
    }
}
