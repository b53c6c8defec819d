package org.mdlagent.arch.shim;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// Explains why the kernel refuses `perf_event_open(2)`, or the mapping of its ring.
public final class PerfEvents {
    static final int EPERM = 1;
    static final int ENOENT = 2;
    static final int ESRCH = 3;
    static final int EBADF = 9;
    static final int EACCES = 13;
    static final int EINVAL = 22;
    static final int EMFILE = 24;

    private PerfEvents() {}

    /// Highest perf_event_paranoid at which users may sample their own threads in user mode, and count events.
    public static final int SAMPLING_MAX = 2;

    static final int COUNTING_MAX = 1;

    /// Stands for an unknown value: the maximum.
    private static final int NOT_KNOWN = Integer.MIN_VALUE;

    /// The kernel's perf_event_paranoid: the higher, the less users may measure.
    public static int paranoid() {
        try {
            return Integer.parseInt(Files.readString(Path.of("/proc/sys/kernel/perf_event_paranoid"))
                    .strip());
        } catch (IOException | NumberFormatException e) {
            return NOT_KNOWN;
        }
    }

    /// Why a user may not measure (EACCES), and the remedy.
    ///
    /// @param most highest value that allows it
    /// @param what object of the sentence: "it" or "them"
    public static String refusal(int paranoid, int most, String what) {
        if (paranoid > most) {
            return "perf_event_paranoid is %d; sysctl kernel.perf_event_paranoid=%d, or CAP_PERFMON, allows %s"
                    .formatted(paranoid, most, what);
        }
        String value = paranoid == NOT_KNOWN ? "not known" : Integer.toString(paranoid);
        return "perf_event_paranoid is %s, which allows %s: a security module or a sandbox refuses; CAP_PERFMON may help"
                .formatted(value, what);
    }
}
