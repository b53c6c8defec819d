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

    /// What was reached of a target, for the first table of `RESULTS.md`.
    ///
    /// @param of     what was measured of the target's kind
    /// @param figure in the target's unit
    /// @param peer   who does the same in which figure, in the same unit: `gprof 21`; empty for nobody
    void figure(Target target, String of, double figure, String peer) {
        raw(String.join("\t", Results.FIGURE, target.name(), of, Double.toString(figure), peer));
    }

    @Override
    public void close() throws IOException {
        file.close();
        if (file.checkError()) {
            throw new IOException("bench/results cannot be written");
        }
    }
}
