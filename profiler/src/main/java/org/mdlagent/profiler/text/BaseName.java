package org.mdlagent.profiler.text;

/// The last component of a path.
public final class BaseName {
    private BaseName() {}

    public static String of(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }
}
