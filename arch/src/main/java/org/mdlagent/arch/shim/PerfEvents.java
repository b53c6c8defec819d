package org.mdlagent.arch.shim;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// Why the kernel refuses `perf_event_open(2)`, or the mapping of its ring, by errno.
final class PerfEvents {
    static final int EPERM = 1;
    static final int ENOENT = 2;
    static final int ESRCH = 3;
    static final int EBADF = 9;
    static final int EACCES = 13;
    static final int EINVAL = 22;
    static final int EMFILE = 24;

    private PerfEvents() {}

    /// What users may measure, "not known" where the kernel does not say.
    static String paranoid() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/perf_event_paranoid"))
                    .strip();
        } catch (IOException e) {
            return "not known";
        }
    }
}
