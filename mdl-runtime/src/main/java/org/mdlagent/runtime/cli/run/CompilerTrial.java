package org.mdlagent.runtime.cli.run;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Finds an option with which a C++ compiler builds programs with probes.
///
/// GCC before 13.1 puts the entries of a unit into one section, tied to the unit's first function. If the
/// linker keeps that function and discards another one, which is also in another unit, the link fails (GCC
/// bugs 93195 and 110729). So two such units are linked.
final class CompilerTrial {
    private static final List<String> COMPILERS = List.of("g++", "clang++");
    private static final int PATIENCE_SECONDS = 20;

    private static final String SHARED = """
            inline __attribute__((noinline)) int apart(int n) { return n * 3; }
            inline __attribute__((noinline)) int shared(int n) { return n + apart(n); }
            int other(int n);
            """;
    private static final String FIRST = SHARED + """
            int other(int n) { return shared(n); }
            """;
    private static final String SECOND = """
            inline __attribute__((noinline)) int alone(int n) { return n * 5; }
            """ + SHARED + """
            int main(int n, char **) { return shared(n) + alone(n) + other(n); }
            """;

    private CompilerTrial() {}

    /// Options that prepare for probes, best first.
    enum Choice {
        PATCHABLE("-fpatchable-function-entry=5", "-fpatchable-function-entry=5"),
        FENTRY("-pg -mfentry", ""),
        HOOKS("-finstrument-functions", "-finstrument-functions");

        private final String compiling;
        private final String linking;

        Choice(String compiling, String linking) {
            this.compiling = compiling;
            this.linking = linking;
        }

        String compiling() {
            return compiling;
        }

        /// Whether the option must be left out when linking.
        boolean compilesOnly() {
            return linking.isEmpty();
        }
    }

    /// The available compilers: from the variable `CXX`, and by their usual names.
    static List<String> compilers(@Nullable String chosen, @Nullable String path) {
        return Stream.concat(Stream.ofNullable(chosen), COMPILERS.stream())
                .filter(name -> !name.isBlank() && ProgramFile.find(name, path) != null)
                .distinct()
                .toList();
    }

    /// The first that works; null when none does.
    static @Nullable Choice best(String compiler) throws IOException {
        Path directory = Files.createTempDirectory("mdl-doctor");
        try {
            Files.writeString(directory.resolve("first.cpp"), FIRST);
            Files.writeString(directory.resolve("second.cpp"), SECOND);
            for (Choice choice : Choice.values()) {
                if (run(directory, compiler, choice.compiling + " -c first.cpp second.cpp")
                        && run(directory, compiler, choice.linking + " first.o second.o -o both")) {
                    return choice;
                }
            }
            return null;
        } finally {
            try (Stream<Path> files = Files.list(directory)) {
                for (Path file : files.toList()) {
                    Files.delete(file);
                }
            }
            Files.delete(directory);
        }
    }

    private static boolean run(Path directory, String compiler, String arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(compiler));
        command.addAll(List.of(arguments.strip().split(" ")));
        File nowhere = new File("/dev/null");
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectInput(nowhere)
                .redirectOutput(nowhere)
                .redirectError(nowhere)
                .start();
        try {
            return process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            process.destroyForcibly();
        }
    }
}
