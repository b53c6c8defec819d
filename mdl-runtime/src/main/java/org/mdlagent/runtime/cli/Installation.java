package org.mdlagent.runtime.cli;

import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// Where this program is installed: `lib/libmdlagent.so` and `runtime/` stand in one directory.
record Installation(Path home) {
    /// The property that names the directory when this is not run from its own image.
    static final String HOME_PROPERTY = "mdl.home";

    static Installation ofProcess() {
        String given = System.getProperty(HOME_PROPERTY);
        Path java = Path.of(System.getProperty("java.home"));
        Path parent = java.getParent();
        return new Installation(given != null ? Path.of(given).toAbsolutePath() : parent == null ? java : parent);
    }

    Path library() {
        return home.resolve("lib/libmdlagent.so");
    }

    Path runtime() {
        return home.resolve("runtime");
    }

    /// The library if it is there.
    @Nullable
    Path existingLibrary() {
        return Files.isReadable(library()) ? library() : null;
    }
}
