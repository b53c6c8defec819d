package org.mdlagent.stress;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Large classes and packages must give a reason: a comment line of the file, or of `package-info`, with the words
/// of [#REASON].
class SourceSizeTest {
    private static final int LINES_MAX = 400;
    private static final int FILES_MAX = 20;
    private static final String REASON = "Long because ";

    /// Tests run in their module's directory.
    private static final Path PROJECT = Path.of("..");

    @Test
    void shouldGiveTheReasonForWhatIsLong() throws IOException {
        List<Path> files = sources(PROJECT);
        assertThat(files).as("sources seen by the rule").hasSizeGreaterThan(200);

        assertThat(withoutReason(files))
                .as("above %d lines, or %d files in a package, without '/// %s...'", LINES_MAX, FILES_MAX, REASON)
                .isEmpty();
    }

    private static List<Path> sources(Path root) throws IOException {
        try (Stream<Path> files = Files.find(
                root,
                20,
                (file, attributes) -> file.toString().endsWith(".java")
                        && root.relativize(file).toString().contains("src/main/java"))) {
            return files.sorted().toList();
        }
    }

    private static List<String> withoutReason(List<Path> files) throws IOException {
        List<String> found = new ArrayList<>();
        Map<Path, Integer> packages = new TreeMap<>();
        for (Path file : files) {
            int lines = Files.readAllLines(file).size();
            if (lines > LINES_MAX && !hasReason(file)) {
                found.add(file + ": " + lines + " lines");
            }
            if (!file.endsWith("package-info.java") && !file.endsWith("module-info.java")) {
                packages.merge(file.resolveSibling("package-info.java"), 1, Integer::sum);
            }
        }
        for (Map.Entry<Path, Integer> one : packages.entrySet()) {
            if (one.getValue() > FILES_MAX && !hasReason(one.getKey())) {
                found.add(one.getKey().getParent() + ": " + one.getValue() + " files");
            }
        }
        return found;
    }

    private static boolean hasReason(Path file) throws IOException {
        return Files.exists(file)
                && Files.readAllLines(file).stream().anyMatch(line -> line.startsWith("/// " + REASON));
    }

    @Test
    void shouldFindWhatIsLongWithoutAReason(@TempDir Path directory) throws IOException {
        Path sources = Files.createDirectories(directory.resolve("src/main/java"));
        String body = "class A {}\n" + "\n".repeat(LINES_MAX - 1);
        Files.writeString(sources.resolve("Short.java"), body);
        Files.writeString(sources.resolve("Long.java"), body + "\n");
        Files.writeString(sources.resolve("Reasoned.java"), "/// " + REASON + "it is one table.\n" + body);

        assertThat(withoutReason(sources(directory))).singleElement().asString().contains("Long.java: 401 lines");
    }

    @Test
    void shouldFindPackagesOfManyFilesWithoutAReason(@TempDir Path directory) throws IOException {
        Path sources = Files.createDirectories(directory.resolve("src/main/java"));
        for (int i = 0; i <= FILES_MAX; i++) {
            Files.writeString(sources.resolve("A" + i + ".java"), "");
        }

        assertThat(withoutReason(sources(directory))).singleElement().asString().endsWith("java: 21 files");
        Files.writeString(sources.resolve("package-info.java"), "/// " + REASON + "it is one tree.\n");
        assertThat(withoutReason(sources(directory))).isEmpty();
    }
}
