package org.mdlagent.bench.report;

import static java.lang.String.format;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.mdlagent.bench.tools.SourceTree;

/// Generates `bench/RESULTS.md` from `bench/results`.
public final class Results {
    /// Prefix of a line with a figure for a [Target].
    static final String FIGURE = "figure";

    /// Prefix of a line with a part of a figure.
    static final String PART = "part";

    /// Prefix of a line that names a plot.
    static final String PLOT = "plot";

    private static final Pattern NOT_FOR_PEOPLE = Pattern.compile("(figure|part|plot)\\t.*|raw[ :].*");
    private static final Pattern PEER = Pattern.compile("(.*) (-?[0-9.,]+)");

    private Results() {}

    /// The result of a benchmark: time, machine, and lines.
    private record Result(String name, String when, String machine, List<String> lines) {
        /// Lines with a prefix, split into fields.
        Stream<String[]> marked(String kind) {
            return lines.stream().filter(line -> line.startsWith(kind + "\t")).map(line -> line.split("\t", -1));
        }

        /// Lines for readers.
        Stream<String> table() {
            return lines.stream().filter(line -> !NOT_FOR_PEOPLE.matcher(line).matches());
        }
    }

    /// A result compared with a target.
    ///
    /// @param of    what was measured of the target's kind
    /// @param peers `name figure; name figure`, empty for none
    /// @param parts that the figure is made of, by what they are spent on; empty where that is not known
    private record Figure(Target target, String of, double value, String peers, Map<String, Double> parts) {
        boolean isMet() {
            return target.isMetBy(value);
        }

        String row() {
            return cells(
                    target.what(),
                    target.goal(),
                    target.quantity(value),
                    of,
                    peers.isEmpty() ? "-" : peers,
                    ratio(value, peers),
                    isMet() ? "met" : "**missed**");
        }

        String rowsOfParts() {
            if (parts.isEmpty()) {
                return cells(target.what(), of, target.quantity(value), "not taken apart", "-");
            }
            StringBuilder rows = new StringBuilder();
            parts.forEach((what, part) ->
                    rows.append(cells(target.what(), of, target.quantity(value), what, target.quantity(part))));
            return rows.toString();
        }

        private static String cells(String... cells) {
            return "| " + String.join(" | ", cells) + " |\n";
        }
    }

    public static void main(String[] args) throws IOException {
        List<Result> results = new ArrayList<>();
        try (Stream<Path> files = Files.list(SourceTree.results(""))) {
            for (Path file : files.filter(file -> file.toString().endsWith(".txt"))
                    .sorted()
                    .toList()) {
                results.add(read(file));
            }
        }
        Files.writeString(SourceTree.resultsTable(), text(results));
        System.err.println("mdl: " + SourceTree.resultsTable());
    }

    private static Result read(Path file) throws IOException {
        List<String> lines = Files.readAllLines(file);
        String name = file.getFileName().toString().replace(".txt", "");
        return new Result(name, lines.getFirst(), lines.get(1), lines.subList(2, lines.size()));
    }

    private static String text(List<Result> results) {
        StringBuilder text = new StringBuilder("""
                # Results

                Written by `./mdl bench`, which also keeps the raw values in `bench/results`. Ticks are those of the time-stamp
                counter; a goal is for the median. Two targets are no figures: that no toggle leads to a wrong execution is what
                `./mdl torture` checks, that `kill -9` loses no sample KillIT of `./mdl test`. Below, each benchmark names the
                machine that it ran on: %d in all.

                | what | goal | figure | of | peers | ratio to the first | |
                | --- | --: | --: | --- | --- | --: | --- |
                """.formatted(machines(results)));
        List<Figure> figures = figures(results);
        figures.forEach(figure -> text.append(figure.row()));
        text.append("""

                ## Where the time goes

                Of what misses its target, as far as other measurements of the same run tell it apart.

                | what | of | figure | part | |
                | --- | --- | --: | --- | --: |
                """);
        figures.stream().filter(figure -> !figure.isMet()).forEach(figure -> text.append(figure.rowsOfParts()));
        for (Result result : results) {
            text.append(format("%n## %s%n%n%s, %s%n%n```%n", result.name, result.when, result.machine));
            result.table().forEach(line -> text.append(line).append('\n'));
            text.append("```\n");
            result.marked(PLOT).forEach(fields -> text.append(format("%n![%s](results/%s)%n", fields[2], fields[1])));
        }
        return text.toString();
    }

    /// The frequency is measured each time, so it does not identify a machine.
    private static long machines(List<Result> results) {
        return results.stream()
                .map(result -> result.machine.replaceFirst("TSC \\d+ MHz", ""))
                .distinct()
                .count();
    }

    /// In the order of the targets.
    private static List<Figure> figures(List<Result> results) {
        List<Figure> figures = new ArrayList<>();
        for (Target target : Target.values()) {
            for (Result result : results) {
                result.marked(FIGURE)
                        .filter(fields -> fields[1].equals(target.name()))
                        .map(fields -> new Figure(
                                target,
                                fields[2],
                                Double.parseDouble(fields[3]),
                                fields[4].isEmpty() ? target.published() : fields[4],
                                parts(result, target, fields[2])))
                        .forEach(figures::add);
            }
        }
        return figures;
    }

    private static Map<String, Double> parts(Result result, Target target, String of) {
        Map<String, Double> parts = new LinkedHashMap<>();
        result.marked(PART)
                .filter(fields -> fields[1].equals(target.name()) && fields[2].equals(of))
                .forEach(fields -> parts.put(fields[3], Double.parseDouble(fields[4])));
        return parts;
    }

    /// Of the first peer, as far as it has a figure of its own.
    private static String ratio(double figure, String peers) {
        Matcher peer = PEER.matcher(peers.split(";", -1)[0]);
        if (!peer.matches()) {
            return "-";
        }
        double ratio = figure / Double.parseDouble(peer.group(2).replace(",", ""));
        return ratio > 0 && Double.isFinite(ratio) ? format(Locale.ROOT, "%.3f", ratio) : "-";
    }
}
