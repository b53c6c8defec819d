package org.mdlagent.bench.tools;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.mdlagent.arch.shim.NativeApi;

/// Paths of built files and of results: the source tree of `-Dmdl.root`.
public final class SourceTree {
    private static final Path ROOT =
            Path.of(System.getProperty("mdl.root", "")).toAbsolutePath().normalize();

    private SourceTree() {}

    /// The shim's mechanisms in this process.
    public static NativeApi harness() {
        return NativeApi.ofHarness(ROOT.resolve("native-shim/target/cmake/libmdl_harness.so"));
    }

    /// The distribution.
    public static Path distribution() {
        return ROOT.resolve("dist");
    }

    /// The library to preload.
    static Path agent() {
        return distribution().resolve("lib/libmdlagent.so");
    }

    public static Path source(String name) {
        return ROOT.resolve("bench/src/main/c").resolve(name);
    }

    /// A program to measure, or a script for one.
    public static Path work(String name) {
        return ROOT.resolve("bench/src/main/work").resolve(name);
    }

    /// The script that runs a program under another tool.
    static Path peer(String tool) {
        return ROOT.resolve("bench/src/main/peers").resolve(tool);
    }

    public static Path sql() {
        return ROOT.resolve("examples/sqlite-workload.sql");
    }

    /// Where the sources of one of Debian's source packages are.
    public static Path debianSources(String name) throws IOException, InterruptedException {
        return debian(name, "--sources", Build.PLAIN);
    }

    /// A Debian program, optimised, and compiled for a kind of probes.
    ///
    /// @param name of the source package
    /// @return what `examples/debian-programs.sh` has built
    public static Path debian(String name, Build build) throws IOException, InterruptedException {
        List<String> flags = new ArrayList<>(List.of("-O2", "-g"));
        flags.addAll(build.flags());
        return debian(name, String.join(" ", flags), build);
    }

    /// A Debian program.
    ///
    /// @param flags of the compiler, or `--sources`
    /// @param build whose compiler that is
    public static Path debian(String name, String flags, Build build) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(
                        ROOT.resolve("examples/debian-programs.sh").toString(), name, flags)
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().put("CC", Objects.requireNonNull(build.compiler()));
        Process process = builder.start();
        String path = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        if (process.waitFor() != 0) {
            throw new IOException(
                    name + " cannot be built from Debian's sources with " + build.compiler() + " " + flags);
        }
        return Path.of(path);
    }

    /// Output and raw values of benchmarks.
    public static Path results(String name) throws IOException {
        return Files.createDirectories(ROOT.resolve("bench/results")).resolve(name);
    }

    /// The page that shows all results.
    public static Path resultsTable() {
        return ROOT.resolve("bench/RESULTS.md");
    }

    /// An empty directory.
    public static Path scratch(String name) throws IOException {
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
