package org.mdlagent.runtime.cli.run;

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
        long limit = KernelText.limit(KernelText.after(KernelText.of(process.resolve("limits")), "Max address space"));
        long mapped = KernelText.limit(status.getOrDefault("VmSize", "0 kB").split(" ")[0]) << 10;
        Path groups = root.resolve("sys/fs/cgroup");
        String path = KernelText.after(KernelText.of(process.resolve("cgroup")), "0::/");
        return new AttachRoom(
                free(limit, mapped),
                least(groups, path, "memory.max", AttachRoom::memoryUsed),
                least(groups, path, "pids.max", group -> KernelText.limit(group.resolve("pids.current"))));
    }

    /// The smallest difference between limit and use of a control group and those that hold it.
    private static long least(Path groups, String path, String limit, ToLongFunction<Path> used) {
        long least = Long.MAX_VALUE;
        for (Path group = groups.resolve(path); group.startsWith(groups); group = group.resolveSibling("")) {
            least = Math.min(least, free(KernelText.limit(group.resolve(limit)), used.applyAsLong(group)));
        }
        return least;
    }

    /// Without the page cache that the kernel reclaims first.
    private static long memoryUsed(Path group) {
        long cache = KernelText.limit(KernelText.after(KernelText.of(group.resolve("memory.stat")), "inactive_file"));
        return Math.max(0, KernelText.limit(group.resolve("memory.current")) - cache);
    }

    private static long free(long limit, long used) {
        return limit == Long.MAX_VALUE ? limit : Math.max(0, limit - used);
    }
}
