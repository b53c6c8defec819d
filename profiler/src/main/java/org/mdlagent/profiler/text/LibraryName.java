package org.mdlagent.profiler.text;

import java.util.regex.Pattern;

/// File names of libraries that can be probed as a whole.
public final class LibraryName {
    /// Without characters that a shell or a pattern would interpret. libc is left out, because the agent calls its
    /// functions: they have probes only when they are named.
    private static final Pattern PROBEABLE = Pattern.compile("(?!libc\\.|ld-linux)[A-Za-z0-9_.+-]+\\.so[0-9.]*");

    private LibraryName() {}

    /// @param name without directories
    public static boolean isProbeable(String name) {
        return PROBEABLE.matcher(name).matches();
    }
}
