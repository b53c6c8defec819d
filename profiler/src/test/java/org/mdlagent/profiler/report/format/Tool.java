package org.mdlagent.profiler.report.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// A program of others that reads what we write.
public record Tool(Path program) {
    /// Skips the test where the program is not installed.
    ///
    /// @param debianPackage that holds it
    public static Tool installed(String name, String debianPackage) {
        Optional<Path> found = Stream.of(
                        Objects.requireNonNullElse(System.getenv("PATH"), "").split(File.pathSeparator))
                .map(directory -> Path.of(directory, name))
                .filter(Files::isExecutable)
                .findFirst();
        assumeTrue(found.isPresent(), name + " is not installed; it is in Debian's package " + debianPackage);
        return new Tool(found.orElseThrow());
    }

    /// Runs the program to its end, which must be a success; returns what it wrote to both streams.
    public String run(Path input, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(List.of(arguments));
        Path output = Files.createTempFile(input.getParent(), "output", "");
        Process process = new ProcessBuilder(command)
                .redirectInput(input.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        boolean ended = process.waitFor(2, TimeUnit.MINUTES);
        process.destroyForcibly();
        String text = Files.readString(output, StandardCharsets.UTF_8);
        assertThat(ended).as(text).isTrue();
        assertThat(process.exitValue()).as(text).isZero();
        return text;
    }
}
