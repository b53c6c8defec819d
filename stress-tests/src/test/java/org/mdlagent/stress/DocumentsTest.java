package org.mdlagent.stress;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Checks references of the documents: targets of links, and classes, members and files in code spans, must exist;
/// the glossary must explain each key and series, and the page on troubleshooting each message of the agent.
/// [GlossaryTest] and [TroubleshootingTest] check the texts of pages and commands.
class DocumentsTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Path DISTRIBUTION = ROOT.resolve("dist");
    private static final Set<String> NOT_SOURCES = Set.of("target", ".git", "results");
    private static final List<Path> GENERATED = List.of(
            ROOT.resolve("arch/target/generated-sources/layout"),
            ROOT.resolve("mdl-runtime/target/generated-sources/options"));

    private static final Pattern FENCED = Pattern.compile("(?ms)^```.*?^```$");
    private static final Pattern LINK = Pattern.compile("\\[[^\\]]*\\]\\(([^)\\s]+)\\)");
    private static final Pattern SPAN = Pattern.compile("`([^`\n]+)`");
    private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");
    private static final Pattern CLASS = Pattern.compile("([A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*)(?:\\.(\\w+))?");
    private static final Pattern FILE = Pattern.compile("[\\w.-][\\w./-]*\\.(?:c|h|S|java|js|sh|md|txt)");
    private static final Pattern TYPE = Pattern.compile("\\b(?:class|interface|record|enum) ([A-Z]\\w*)");
    private static final Pattern KEY = Pattern.compile("(?:member|name|beginArray)\\(\\s*\"(\\w+)\"");
    private static final Pattern MESSAGE =
            Pattern.compile("(?:log_line|agent_died|agent_gives_up|log\\.line)\\(\\s*\"([^\"]{6,})\"");
    private static final Pattern SERIES = Pattern.compile("\"(mdl_\\w+)\"");

    /// Files by their name without directories.
    private static final Map<String, List<Path>> FILES = new HashMap<>();

    /// Files that declare a type of a name.
    private static final Map<String, List<Path>> TYPES = new HashMap<>();

    @BeforeAll
    static void findSources() throws IOException {
        SimpleFileVisitor<Path> sources = new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                return NOT_SOURCES.contains(directory.getFileName().toString()) || directory.equals(DISTRIBUTION)
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                String name = file.getFileName().toString();
                FILES.computeIfAbsent(name, key -> new ArrayList<>()).add(file);
                if (name.endsWith(".java")) {
                    TYPE.matcher(Files.readString(file))
                            .results()
                            .forEach(type -> TYPES.computeIfAbsent(type.group(1), key -> new ArrayList<>())
                                    .add(file));
                }
                return FileVisitResult.CONTINUE;
            }
        };
        Files.walkFileTree(ROOT, sources);
        for (Path generated : GENERATED) {
            Files.walkFileTree(generated, sources);
        }
        assertThat(TYPES).as("types in the tree").hasSizeGreaterThan(300);
    }

    @Test
    void shouldNameOnlyWhatIsThere() throws IOException {
        List<String> missing = new ArrayList<>();
        for (Path document : documents()) {
            missing.addAll(missing(document, Files.readString(document)));
        }

        assertThat(missing).isEmpty();
    }

    @Test
    void shouldTellWhatIsNotThere() {
        String text = """
                # One heading
                [here](#one-heading), [not here](#another), [no file](nowhere.md), [no anchor](README.md#nowhere)
                `WordPatch` `WordPatch.patch` `WordPatch.dance` `Dance` `layout.h` `dance.c` `NAME` `/Code/aof.c`
                ```
                `InACodeBlock`
                ```
                """;

        assertThat(missing(ROOT.resolve("TEST.md"), text))
                .containsExactly(
                        "TEST.md: #another",
                        "TEST.md: nowhere.md",
                        "TEST.md: README.md#nowhere",
                        "TEST.md: WordPatch.dance",
                        "TEST.md: Dance",
                        "TEST.md: dance.c");
    }

    @Test
    void shouldNameAFileAndATestForEachProtocol() throws IOException {
        String text = Files.readString(ROOT.resolve("ARCHITECTURE.md"));
        int table = text.indexOf("| protocol | file | test |");
        assertThat(table).as("where the table is").isPositive();
        List<String> rows = text.substring(table, text.indexOf("\n\n", table))
                .lines()
                .skip(2)
                .toList();
        assertThat(rows).hasSizeGreaterThan(30);

        assertThat(rows.stream().filter(row -> !namesFileAndTest(row)).toList()).isEmpty();
    }

    private static boolean namesFileAndTest(String row) {
        String[] cells = row.split("\\|");
        List<String> files = spans(cells[2]);
        List<String> tests = spans(cells[3]);
        return !files.isEmpty()
                && files.stream().noneMatch(DocumentsTest::isOfTests)
                && !tests.isEmpty()
                && tests.stream().allMatch(DocumentsTest::isOfTests);
    }

    @Test
    void shouldExplainEveryKeyAndSeriesThatIsShown() throws IOException {
        Set<String> shown = new HashSet<>();
        for (String report : List.of("JsonReport", "ComparisonJson")) {
            addAll(KEY, report, shown);
        }
        addAll(SERIES, "PrometheusReport", shown);
        assertThat(shown).contains("callsExact", "mdl_session_info").hasSizeGreaterThan(60);
        String glossary = Files.readString(ROOT.resolve("docs/glossary.md"));

        shown.removeIf(word -> Pattern.compile("(?<!\\w)" + Pattern.quote(word) + "(?!\\w)")
                .matcher(glossary)
                .find());
        assertThat(shown).as("what is not explained").isEmpty();
    }

    /// Messages with a fixed beginning.
    @Test
    void shouldExplainEveryMessageOfTheAgent() throws IOException {
        Set<String> messages = new HashSet<>();
        for (Path file : FILES.values().stream().flatMap(List::stream).toList()) {
            if (file.toString().matches(".*\\.(c|java)") && !file.toString().contains("/test/")) {
                MESSAGE.matcher(Files.readString(file))
                        .results()
                        .forEach(message -> messages.add(message.group(1).replaceAll("^ +|[ :;(,=]+$", "")));
            }
        }
        assertThat(messages).contains("there is no JVM", "option ignored").hasSizeGreaterThan(25);
        String troubleshooting = Files.readString(ROOT.resolve("docs/troubleshooting.md"));

        messages.removeIf(troubleshooting::contains);
        assertThat(messages).as("what is not explained").isEmpty();
    }

    private static void addAll(Pattern pattern, String type, Set<String> words) throws IOException {
        for (Path file : TYPES.getOrDefault(type, List.of())) {
            pattern.matcher(Files.readString(file)).results().forEach(match -> words.add(match.group(1)));
        }
    }

    private static List<Path> documents() throws IOException {
        List<Path> documents = new ArrayList<>(
                List.of(ROOT.resolve("README.md"), ROOT.resolve("ARCHITECTURE.md"), ROOT.resolve("SECURITY.md")));
        try (Stream<Path> files = Files.list(ROOT.resolve("docs"))) {
            files.filter(file -> file.toString().endsWith(".md")).sorted().forEach(documents::add);
        }
        assertThat(documents).hasSizeGreaterThan(10);
        return documents;
    }

    private static List<String> missing(Path document, String text) {
        List<String> missing = new ArrayList<>();
        String prose = FENCED.matcher(text).replaceAll("");
        for (MatchResult link : LINK.matcher(prose).results().toList()) {
            if (!link.group(1).startsWith("http") && !leadsSomewhere(link.group(1), document, text)) {
                missing.add(link.group(1));
            }
        }
        spans(prose).stream().filter(span -> !isThere(span)).forEach(missing::add);
        return missing.stream()
                .map(what -> ROOT.relativize(document) + ": " + what)
                .toList();
    }

    private static boolean leadsSomewhere(String link, Path document, String text) {
        int hash = link.indexOf('#');
        String file = hash < 0 ? link : link.substring(0, hash);
        Path target = file.isEmpty() ? document : document.resolveSibling(file).normalize();
        if (!file.isEmpty() && !Files.exists(target)) {
            return false;
        }
        return hash < 0 || anchors(file.isEmpty() ? text : read(target)).contains(link.substring(hash + 1));
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return "";
        }
    }

    /// Anchors of headings, as GitHub generates them.
    private static Set<String> anchors(String text) {
        Set<String> anchors = new HashSet<>();
        HEADING.matcher(FENCED.matcher(text).replaceAll(""))
                .results()
                .forEach(heading -> anchors.add(heading.group(1)
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\w\\- ]", "")
                        .replace(' ', '-')));
        return anchors;
    }

    private static List<String> spans(String text) {
        return SPAN.matcher(text).results().map(span -> span.group(1)).toList();
    }

    /// Whether it exists, or does not look like a class, a member or a file.
    private static boolean isThere(String span) {
        Matcher type = CLASS.matcher(span);
        if (FILE.matcher(span).matches()) {
            return FILES.containsKey(Path.of(span).getFileName().toString());
        }
        return !type.matches()
                || TYPES.getOrDefault(type.group(1), List.of()).stream()
                        .anyMatch(file -> type.group(2) == null
                                || Pattern.compile("\\b" + type.group(2) + "\\b")
                                        .matcher(read(file))
                                        .find());
    }

    private static boolean isOfTests(String span) {
        List<Path> files = FILE.matcher(span).matches() ? FILES.get(span) : TYPES.get(span);
        return files != null && files.stream().allMatch(file -> file.toString().contains("/test/"));
    }
}
