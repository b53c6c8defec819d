package org.mdlagent.runtime;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.commons.support.AnnotationSupport;
import org.mdlagent.profiler.report.file.SessionFile;

/// Removes the data of a test's sessions from shared memory: its temporary directories hold links to them only.
public final class SessionCleanup implements AfterEachCallback {
    @Override
    public void afterEach(ExtensionContext context) throws IOException {
        List<Path> directories = AnnotationSupport.findAnnotatedFieldValues(
                context.getRequiredTestInstance(), TempDir.class, Path.class);
        for (Path directory : directories) {
            removeData(directory);
        }
    }

    /// Removes the data of the sessions below a directory.
    static void removeData(Path directory) throws IOException {
        try (Stream<Path> links = Files.find(
                directory,
                Integer.MAX_VALUE,
                (path, attributes) -> attributes.isSymbolicLink() && path.endsWith(SessionFile.NAME))) {
            for (Path link : links.toList()) {
                Files.deleteIfExists(Files.readSymbolicLink(link));
                Files.delete(link);
            }
        }
    }
}
