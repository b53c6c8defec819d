package org.mdlagent.bench;

import static java.lang.String.format;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// Writes `bench/RESULTS.md` of what the benchmarks have left in `bench/results`.
public final class Results {
    /// Begins a line of a result's file that has a figure for a [Target].
    static final String FIGURE = "figure";

    private static final String RAW = "raw";
    private static final Pattern PEER = Pattern.compile("(.*) ([0-9.,]+)");

    private Results() {}

    /// What one benchmark has left: when, on which machine, and its lines.
    private record Result(String name, String when, String machine, List<String> lines) {}

    public static void main(String[] args) throws IOException {
        List<Result> results = new ArrayList<>();
        try (Stream<Path> files = Files.list(SourceTree.results(""))) {
            for (Path file : files.sorted().toList()) {
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
                `./mdl torture` checks, that `kill -9` loses no sample KillIT of `./mdl test`.

                | what | goal | figure | of | peers | ratio to the first | |
                | --- | --: | --: | --- | --- | --: | --- |
                """);
        for (Target target : Target.values()) {
            results.stream()
                    .flatMap(result -> result.lines.stream())
                    .map(line -> line.split("\t", -1))
                    .filter(fields -> fields[0].equals(FIGURE) && fields[1].equals(target.name()))
                    .map(fields -> row(target, fields[2], Double.parseDouble(fields[3]), fields[4]))
                    .forEach(text::append);
        }
        for (Result result : results) {
            text.append(format("%n## %s%n%n%s, %s%n%n```%n", result.name, result.when, result.machine));
            result.lines.stream()
                    .filter(line -> !line.startsWith(FIGURE + "\t") && !line.startsWith(RAW))
                    .forEach(line -> text.append(line).append('\n'));
            text.append("```\n");
        }
        return text.toString();
    }

    private static String row(Target target, String of, double figure, String peers) {
        return String.join(
                " | ",
                "| " + target.what(),
                target.goal(),
                target.quantity(figure),
                of,
                peers.isEmpty() ? "-" : peers,
                ratio(figure, peers),
                (target.isMetBy(figure) ? "met" : "**missed**") + " |\n");
    }

    /// Of the first peer, as far as it has a figure of its own.
    private static String ratio(double figure, String peers) {
        Matcher peer = PEER.matcher(peers.split(";", -1)[0]);
        if (!peer.matches() || figure <= 0) {
            return "-";
        }
        return format(
                Locale.ROOT, "%.3f", figure / Double.parseDouble(peer.group(2).replace(",", "")));
    }
}
