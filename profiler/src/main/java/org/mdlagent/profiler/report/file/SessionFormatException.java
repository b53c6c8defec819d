package org.mdlagent.profiler.report.file;

import java.io.IOException;
import java.nio.file.Path;

/// Thrown when a file is not a session that this program can read. The message says which file, what is wrong
/// with it and what to do.
public final class SessionFormatException extends IOException {
    private static final long serialVersionUID = 1;

    private final transient Path file;
    private final String what;
    private final String remedy;

    public SessionFormatException(Path file, String what, String remedy) {
        super(file + ": " + what + "; " + remedy);
        this.file = file;
        this.what = what;
        this.remedy = remedy;
    }

    public Path file() {
        return file;
    }

    /// What is wrong with the file.
    public String what() {
        return what;
    }

    /// What the user can do about it.
    public String remedy() {
        return remedy;
    }
}
