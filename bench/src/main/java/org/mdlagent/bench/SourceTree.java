package org.mdlagent.bench;

import java.io.IOException;
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

    /// The library to preload.
    static Path agent() {
        return ROOT.resolve("dist/lib/libmdlagent.so");
    }

    static Path source(String name) {
        return ROOT.resolve("bench/src/main/c").resolve(name);
    }

    /// What benchmarks print, and the raw values behind it.
    static Path results(String name) throws IOException {
        return Files.createDirectories(ROOT.resolve("bench/results")).resolve(name);
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
