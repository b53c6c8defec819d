package org.mdlagent.runtime.cli.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.ToLongFunction;

/// What a running process may still take, `Long.MAX_VALUE` for no limit.
///
/// @param addressSpace bytes below RLIMIT_AS
/// @param memory       bytes below `memory.max` of its control groups, when their page cache is reclaimed
/// @param threads      below `pids.max` of its control groups
record AttachRoom(long addressSpace, long memory, long threads) {
    /// The JVM's reservations.
    static final long ADDRESS_SPACE_MIN = 1152L << 20;

    /// The agent takes some 50 MiB, and the session counts too.
    static final long MEMORY_MIN = 128L << 20;

    /// The agent has up to 20 threads.
    static final long THREADS_MIN = 32;

    /// @param root   of the file system
    /// @param status `/proc/PID/status`: values by name
    static AttachRoom of(Path root, int pid, Map<String, String> status) {
        Path process = root.resolve("proc/" + pid);
        long limit = bytes(value(content(process.resolve("limits")), "Max address space"));
        long mapped = bytes(status.getOrDefault("VmSize", "0 kB").split(" ")[0]) << 10;
        Path groups = root.resolve("sys/fs/cgroup");
        String path = value(content(process.resolve("cgroup")), "0::/");
        return new AttachRoom(
                free(limit, mapped),
                least(groups, path, "memory.max", AttachRoom::memoryUsed),
                least(
                        groups,
                        path,
                        "pids.max",
                        group -> bytes(content(group.resolve("pids.current")).strip())));
    }

    /// The smallest difference between limit and use of a control group and those that hold it.
    private static long least(Path groups, String path, String limit, ToLongFunction<Path> used) {
        long least = Long.MAX_VALUE;
        for (Path group = groups.resolve(path); group.startsWith(groups); group = group.resolveSibling("")) {
            least = Math.min(least, free(bytes(content(group.resolve(limit)).strip()), used.applyAsLong(group)));
        }
        return least;
    }

    /// Without the page cache that the kernel reclaims first.
    private static long memoryUsed(Path group) {
        long cache = bytes(value(content(group.resolve("memory.stat")), "inactive_file"));
        return Math.max(0, bytes(content(group.resolve("memory.current")).strip()) - cache);
    }

    private static long free(long limit, long used) {
        return limit == Long.MAX_VALUE ? limit : Math.max(0, limit - used);
    }

    /// The first word after the name in its line, "" if there is no such line.
    private static String value(String lines, String name) {
        return lines.lines()
                .filter(line -> line.startsWith(name))
                .map(line -> line.substring(name.length()).strip().split("\\s+")[0])
                .findFirst()
                .orElse("");
    }

    /// The words for "no limit" are not numbers.
    private static long bytes(String text) {
        return text.matches("\\d{1,18}") ? Long.parseLong(text) : Long.MAX_VALUE;
    }

    private static String content(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return "";
        }
    }
}
