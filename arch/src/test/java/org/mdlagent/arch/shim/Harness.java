package org.mdlagent.arch.shim;

import java.nio.file.Files;
import java.nio.file.Path;

/// What the build of `native-shim` makes for tests.
public final class Harness {
    private static final Path BUILD =
            Path.of("../native-shim/target/cmake").toAbsolutePath().normalize();

    /// The shim's mechanisms in this process.
    public static final NativeApi API = NativeApi.ofHarness(file("libmdl_harness.so"));

    private Harness() {}

    public static Path file(String name) {
        Path file = BUILD.resolve(name);
        if (!Files.exists(file)) {
            throw new IllegalStateException(file + " is missing: mvn -pl native-shim test-compile");
        }
        return file;
    }
}
