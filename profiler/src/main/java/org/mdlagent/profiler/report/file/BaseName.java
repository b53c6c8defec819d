package org.mdlagent.profiler.report.file;

/// The name of a file without its directories.
public final class BaseName {
    private BaseName() {}

    public static String of(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }
}
