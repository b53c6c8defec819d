package org.mdlagent.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.mdlagent.arch.NativeApi;

/// Where benchmarks find what is built, and where they leave what they make: the source tree of `-Dmdl.root`.
final class SourceTree {
    private static final Path ROOT =
            Path.of(System.getProperty("mdl.root", "")).toAbsolutePath().normalize();

    private SourceTree() {}

    /// The shim's mechanisms in this process.
    static NativeApi harness() {
        return NativeApi.ofHarness(ROOT.resolve("native-shim/target/cmake/libmdl_harness.so"));
    }

    /// What is installed.
    static Path distribution() {
        return ROOT.resolve("dist");
    }

    /// The library to preload.
    static Path agent() {
        return distribution().resolve("lib/libmdlagent.so");
    }

    static Path source(String name) {
        return ROOT.resolve("bench/src/main/c").resolve(name);
    }

    /// A program to measure, or a script for one.
    static Path work(String name) {
        return ROOT.resolve("bench/src/main/work").resolve(name);
    }

    static Path sql() {
        return ROOT.resolve("examples/sqlite-workload.sql");
    }

    /// What `examples/debian-programs.sh` prints.
    ///
    /// @param name  of a source package
    /// @param flags for the compiler, or `--sources`
    static String debian(String name, String flags) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        ROOT.resolve("examples/debian-programs.sh").toString(), name, flags)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String path = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        if (process.waitFor() != 0) {
            throw new IOException(name + " cannot be built from Debian's sources");
        }
        return path;
    }

    /// What benchmarks print, and the raw values behind it.
    static Path results(String name) throws IOException {
        return Files.createDirectories(ROOT.resolve("bench/results")).resolve(name);
    }

    /// What [Results] writes.
    static Path resultsTable() {
        return ROOT.resolve("bench/RESULTS.md");
    }

    /// A directory that is empty.
    static Path scratch(String name) throws IOException {
        Path directory = ROOT.resolve("bench/target/scratch").resolve(name);
        if (Files.exists(directory)) {
            try (Stream<Path> files = Files.walk(directory)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
        return Files.createDirectories(directory);
    }
}
