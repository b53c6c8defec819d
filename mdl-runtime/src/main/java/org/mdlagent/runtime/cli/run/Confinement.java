package org.mdlagent.runtime.cli.run;

import java.io.IOException;
import java.nio.file.Files;
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
        String status = content(root.resolve("proc/self/status"));
        return new Confinement(
                after(status, "Seccomp:").equals("2"),
                after(status, "NoNewPrivs:").equals("1"),
                bytes(after(content(root.resolve("proc/self/limits")), "Max address space")),
                MEMORY_LIMITS.stream()
                        .mapToLong(file -> bytes(content(root.resolve(file)).strip()))
                        .min()
                        .orElseThrow());
    }

    /// The first word after the name in its line, "" if there is no such line.
    private static String after(String lines, String name) {
        return lines.lines()
                .filter(line -> line.startsWith(name))
                .map(line -> line.substring(name.length()).strip().split("\\s+")[0])
                .findFirst()
                .orElse("");
    }

    /// The values for "no limit" are not numbers.
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
