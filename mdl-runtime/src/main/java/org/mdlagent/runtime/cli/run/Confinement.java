package org.mdlagent.runtime.cli.run;

import java.nio.file.Path;
import java.util.List;

/// Restrictions of a process that the programs it runs inherit.
///
/// @param filtered whether a seccomp filter decides on its system calls
/// @param noNewPrivileges whether programs that it runs keep its user, whatever their set-user bits say
/// @param addressSpaceMax bytes, `Long.MAX_VALUE` for no limit
/// @param memoryMax bytes allowed by the control group, `Long.MAX_VALUE` for no limit
record Confinement(boolean filtered, boolean noNewPrivileges, long addressSpaceMax, long memoryMax) {
    private static final List<String> MEMORY_LIMITS =
            List.of("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes");

    /// Those of this process.
    ///
    /// @param root of the file system
    static Confinement read(Path root) {
        String status = KernelText.of(root.resolve("proc/self/status"));
        return new Confinement(
                KernelText.after(status, "Seccomp:").equals("2"),
                KernelText.after(status, "NoNewPrivs:").equals("1"),
                KernelText.limit(
                        KernelText.after(KernelText.of(root.resolve("proc/self/limits")), "Max address space")),
                MEMORY_LIMITS.stream()
                        .mapToLong(file -> KernelText.limit(root.resolve(file)))
                        .min()
                        .orElseThrow());
    }
}
