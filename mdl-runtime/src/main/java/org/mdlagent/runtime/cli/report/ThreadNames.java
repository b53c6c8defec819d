package org.mdlagent.runtime.cli.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// Names of threads of a running program. A session has the names of threads that were sampled.
public final class ThreadNames {
    private ThreadNames() {}

    public static Optional<String> of(int tid) {
        try {
            return Optional.of(Files.readString(Path.of("/proc", Integer.toString(tid), "comm"))
                    .strip());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /// By thread id, for live threads.
    public static Map<Integer, String> of(Collection<Integer> tids) {
        Map<Integer, String> names = new TreeMap<>();
        for (int tid : tids) {
            of(tid).ifPresent(name -> names.put(tid, name));
        }
        return names;
    }
}
