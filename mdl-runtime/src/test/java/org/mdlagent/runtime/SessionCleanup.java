package org.mdlagent.runtime;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NotLinkException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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

    /// Removes directories of a test's, with their sessions' data. A process that a script has not waited for may
    /// still save its session there; then the removal fails, and is tried again.
    public static void remove(Path directory, String... names) throws Exception {
        List<String> command = new ArrayList<>(List.of("rm", "-rf"));
        command.addAll(List.of(names));
        Dist.await("the removal of " + command + " in " + directory, () -> {
            removeData(directory);
            return Dist.run(directory, Map.of(), command).status() == 0;
        });
    }

    /// Removes the data of the sessions below a directory, but for what a process that ends just now has saved.
    public static void removeData(Path directory) throws IOException {
        try (Stream<Path> links = Files.find(
                directory,
                Integer.MAX_VALUE,
                (path, attributes) -> attributes.isSymbolicLink() && path.endsWith(SessionFile.NAME))) {
            for (Path link : links.toList()) {
                try {
                    Files.deleteIfExists(Files.readSymbolicLink(link));
                    Files.delete(link);
                } catch (NotLinkException e) {
                    continue; // it is a file now, and goes with its directory
                }
            }
        }
    }
}
