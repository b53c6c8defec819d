package org.mdlagent.bench;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/// What a benchmark prints. The same goes to a file of `bench/results`, with the raw values behind it.
final class Report implements AutoCloseable {
    private final PrintStream file;

    Report(String name, Machine machine) throws IOException {
        file = new PrintStream(Files.newOutputStream(SourceTree.results(name + ".txt")), false, StandardCharsets.UTF_8);
        file.println(Instant.now().truncatedTo(ChronoUnit.SECONDS));
        line(machine.toString());
    }

    /// A line for people.
    void line(String line) {
        System.out.println(line);
        file.println(line);
    }

    /// A line for the file alone.
    void raw(String line) {
        file.println(line);
    }

    @Override
    public void close() throws IOException {
        file.close();
        if (file.checkError()) {
            throw new IOException("bench/results cannot be written");
        }
    }
}
