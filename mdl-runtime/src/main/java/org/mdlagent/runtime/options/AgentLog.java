package org.mdlagent.runtime.options;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/// The session's log, created by the shim. The agent never prints to the program's own output.
public final class AgentLog {
    private final Path path;

    public AgentLog(String path) {
        this.path = Path.of(path);
    }

    public void line(String text) {
        String line = Instant.now().truncatedTo(ChronoUnit.MILLIS) + " agent: " + text + "\n";
        try {
            Files.write(
                    RegularFile.of(path, LinkOption.NOFOLLOW_LINKS),
                    line.getBytes(StandardCharsets.UTF_8),
                    StandardOpenOption.WRITE,
                    StandardOpenOption.APPEND,
                    LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            // Any other place would be visible to the application.
        }
    }
}
