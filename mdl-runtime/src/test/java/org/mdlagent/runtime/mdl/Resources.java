package org.mdlagent.runtime.mdl;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.mdlagent.runtime.mdl.syntax.SourceFile;

/// Files of MDL beside the tests.
public final class Resources {
    private Resources() {}

    /// All files of MDL in a directory.
    public static List<Path> in(String directory) {
        try (Stream<Path> files = Files.list(Path.of(
                Objects.requireNonNull(Resources.class.getResource(directory)).toURI()))) {
            return files.filter(file -> file.toString().endsWith(".mdl"))
                    .sorted()
                    .toList();
        } catch (IOException | URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    public static SourceFile read(Path file) throws IOException {
        return new SourceFile(file.getFileName().toString(), Files.readString(file));
    }

    /// What is expected of a file: it stands beside it.
    ///
    /// `-Dmdl.golden=DIRECTORY` writes there what there is instead; to be compared by a person, then copied.
    public static String expected(Path file, String actual) throws IOException {
        return expectedIn(file, ".expected", actual);
    }

    /// The same, of several for one file.
    public static String expected(Path file, String what, String actual) throws IOException {
        return expectedIn(file, "." + what + ".expected", actual);
    }

    private static String expectedIn(Path file, String ending, String actual) throws IOException {
        String name = file.getFileName().toString().replace(".mdl", ending);
        String written = System.getProperty("mdl.golden");
        if (written != null) {
            Files.writeString(Path.of(written, name), actual);
        }
        return Files.readString(file.resolveSibling(name));
    }
}
