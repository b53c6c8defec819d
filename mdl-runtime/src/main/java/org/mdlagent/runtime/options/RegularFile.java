package org.mdlagent.runtime.options;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/// Opens a file only if it is regular: opening a pipe could block forever.
///
/// The check precedes the opening. The owner could replace the file in between, but would only block himself.
public final class RegularFile {
    private static final Path NOTHING = Path.of("/dev/null");

    private RegularFile() {}

    /// @throws NoSuchFileException if there is none
    /// @throws FileSystemException if it is not regular, or cannot be checked
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
