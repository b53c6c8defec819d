package org.mdlagent.stress;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Each package and each class says in a sentence what it is for.
class TypeCommentsTest {
    /// The line that declares a type that is not nested.
    private static final Pattern TYPE = Pattern.compile(
            "(?:(?:public|abstract|final|sealed|non-sealed) )*(?:class|interface|record|enum|@interface) .*");

    /// Tests run in their module's directory.
    private static final Path PROJECT = Path.of("..");

    @Test
    void shouldSayWhatEachTypeIsFor() throws IOException {
        List<Path> files = sources(PROJECT);
        assertThat(files).as("sources seen by the rule").hasSizeGreaterThan(200);

        assertThat(withoutComment(files)).isEmpty();
    }

    private static List<Path> sources(Path root) throws IOException {
        try (Stream<Path> files = Files.find(
                root,
                20,
                (file, attributes) -> file.toString().endsWith(".java")
                        && root.relativize(file).toString().contains("src/main/java"))) {
            return files.filter(file -> !file.endsWith("module-info.java"))
                    .sorted()
                    .toList();
        }
    }

    private static List<String> withoutComment(List<Path> files) throws IOException {
        List<String> found = new ArrayList<>();
        for (Path file : files) {
            boolean isPackage = file.endsWith("package-info.java");
            String paragraph = ""; // its first line
            for (String line : Files.readAllLines(file)) {
                paragraph = line.isBlank() ? "" : paragraph.isEmpty() ? line : paragraph;
                boolean declares = isPackage
                        ? line.startsWith("package ")
                        : TYPE.matcher(line).matches();
                if (declares && !paragraph.matches("/// .+")) {
                    found.add(file + ": " + line);
                }
            }
        }
        return found;
    }

    @Test
    void shouldFindTypesAndPackagesWithoutComment(@TempDir Path directory) throws IOException {
        Path sources = Files.createDirectories(directory.resolve("src/main/java"));
        Files.writeString(
                sources.resolve("A.java"),
                "package a;\n\n/// Does a.\n@Deprecated(\n        since = \"1\")\nfinal class A {}\n");
        Files.writeString(sources.resolve("B.java"), "package a;\n\n@Deprecated\npublic record B() {}\n");
        Files.writeString(sources.resolve("C.java"), "package a;\n\n/// Does c.\nclass C {}\n\nenum D {}\n");
        Files.writeString(sources.resolve("package-info.java"), "@Deprecated\npackage a;\n");

        assertThat(withoutComment(sources(directory)))
                .satisfiesExactly(
                        b -> assertThat(b).contains("B.java: public record B"),
                        c -> assertThat(c).contains("C.java: enum D"),
                        info -> assertThat(info).contains("package-info.java: package a"));
    }
}
