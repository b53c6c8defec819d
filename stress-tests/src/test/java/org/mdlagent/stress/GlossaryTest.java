package org.mdlagent.stress;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Each column title and visible word of tables and pages must be a term of the glossary, in the first cell of a
/// row.
class GlossaryTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Path REPORT = ROOT.resolve("profiler/src/main");
    private static final Path PAGES = REPORT.resolve("resources/org/mdlagent/profiler/report/page");
    private static final Path COMMANDS = ROOT.resolve("mdl-runtime/src/main/java/org/mdlagent/runtime/cli");

    /// Heads of columns, buttons, boxes to check, and titles, in markup.
    private static final Pattern MARKUP =
            Pattern.compile("<(?:th|h2)>([^<]+)<|<button[^>]*>([^<]+)<|<label[^>]*>\\s*<input[^>]*>\\s*([^<]+)<");

    /// The same in scripts: columns of the tables, facts (`["Budget", ...]`), and what is made as an element.
    private static final Pattern SCRIPT =
            Pattern.compile("key: \"\\w+\",\\s+title: \"([^\"]+)\"|\\[[\"`]([A-Z][^\"`$:]*)[^\"`]*[\"`],"
                    + "|\"(?:p\\d+|min|max)\", \"(p[\\d.]+|min|max)\"\\]|element\\(\"(?:h3|button)\", \\{[^}]*\\}, \"([A-Za-z][^\":]+)"
                    + "|neighbours\\(\"([^\"]+)\"");

    /// Lists of heads in scripts.
    private static final Pattern HEADS = Pattern.compile("const head = \\[([^\\]]+)\\]");

    private static final Pattern LITERAL = Pattern.compile("\"([^\"]+)\"");

    /// In tables of text heads are in capitals.
    private static final Pattern CAPITALS = Pattern.compile("\"([A-Z]{2,}(?: [A-Z]+)*)\"");

    private static final Pattern COLUMN = Pattern.compile("new TextColumn\\(\"([^\"]+)\"");

    /// Terms in small letters, without marks and what is in brackets.
    private static Set<String> terms() throws IOException {
        Set<String> terms = new TreeSet<>();
        for (String line : Files.readAllLines(ROOT.resolve("docs/glossary.md"))) {
            if (line.startsWith("| ")) {
                String cell = line.substring(1, line.indexOf('|', 1)).replaceAll("\\([^)]*\\)|[*`]", "");
                for (String term : cell.split(",")) {
                    terms.add(term.strip().toLowerCase(Locale.ROOT));
                }
            }
        }
        assertThat(terms).contains("total", "p99.9", "agent's cpu").hasSizeGreaterThan(150);
        return terms;
    }

    private static void add(Pattern pattern, String text, Set<String> words) {
        pattern.matcher(text).results().forEach(found -> {
            for (int group = 1; group <= found.groupCount(); group++) {
                if (found.group(group) != null) {
                    words.add(found.group(group).strip());
                }
            }
        });
    }

    private static Set<String> missing(Set<String> words) throws IOException {
        Set<String> terms = terms();
        Set<String> missing = new TreeSet<>(words);
        missing.removeIf(word -> terms.contains(word.toLowerCase(Locale.ROOT)));
        return missing;
    }

    @Test
    void shouldExplainEveryWordOfThePages() throws IOException {
        Set<String> words = new TreeSet<>();
        try (Stream<Path> files = Files.list(PAGES)) {
            for (Path file : files.toList()) {
                String text = Files.readString(file);
                if (file.toString().endsWith(".html")) {
                    add(MARKUP, text, words);
                } else if (file.toString().endsWith(".js")) {
                    add(SCRIPT, text, words);
                    HEADS.matcher(text).results().forEach(heads -> add(LITERAL, heads.group(1), words));
                }
            }
        }
        assertThat(words)
                .contains("Share", "Agent's CPU", "Began", "by callers", "never called too", "p99.9", "p99 change")
                .contains("Most time in", "Called by", "Latency over time", "pause", "Mean")
                .hasSizeGreaterThan(55);

        assertThat(missing(words)).as("what is not explained").isEmpty();
    }

    @Test
    void shouldExplainEveryColumnOfTheTables() throws IOException {
        Set<String> words = new TreeSet<>();
        Path reports = REPORT.resolve("java/org/mdlagent/profiler/report");
        for (String table :
                new String[] {"TableReport", "ComparisonTable", "SeriesTable", "HistoryReport", "RunTable"}) {
            String text = Files.readString(reports.resolve("format/" + table + ".java"));
            add(CAPITALS, text, words);
            add(COLUMN, text, words);
        }
        add(CAPITALS, Files.readString(reports.resolve("live/LiveTable.java")), words);
        String list = Files.readString(COMMANDS.resolve("control/ListCommand.java"));
        add(CAPITALS, list.replaceAll("paramLabel = \"[^\"]*\"", ""), words);
        assertThat(words)
                .contains("TOTAL", "n", "p99.9", "PARENT", "CALLS SEEN", "ONLY WHILE", "NOW", "BUILD")
                .hasSizeGreaterThan(35);

        assertThat(missing(words)).as("what is not explained").isEmpty();
    }
}
