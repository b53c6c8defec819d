package org.mdlagent.runtime.options;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/// A file that is opened at a name where something else may be: a pipe would be waited for, without end.
///
/// It is looked at before it is opened, and could be exchanged in between by its owner, who then waits for himself.
public final class RegularFile {
    private static final Path NOTHING = Path.of("/dev/null");

    private RegularFile() {}

    /// @throws NoSuchFileException when there is nothing
    /// @throws FileSystemException when it is something else, or cannot be looked at
    public static Path of(Path file, LinkOption... options) throws IOException {
        if (!Files.isRegularFile(file, options) && !file.equals(NOTHING)) {
            Files.readAttributes(file, "isRegularFile", options);
            throw new FileSystemException(file.toString(), null, "it is not a regular file");
        }
        return file;
    }

    public static String text(Path file) throws IOException {
        return new String(Files.readAllBytes(of(file)), StandardCharsets.UTF_8);
    }
}
