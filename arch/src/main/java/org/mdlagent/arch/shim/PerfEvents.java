package org.mdlagent.arch.shim;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.mdlagent.arch.layout.KernelEvent;

/// Explains why the kernel refuses `perf_event_open(2)`, or the mapping of its ring, or has no such event.
public final class PerfEvents {
    static final int EPERM = 1;
    static final int ENOENT = 2;
    static final int ESRCH = 3;
    static final int EBADF = 9;
    static final int EACCES = 13;
    static final int ENODEV = 19;
    static final int EINVAL = 22;
    static final int EMFILE = 24;
    static final int EOPNOTSUPP = 95;

    private PerfEvents() {}

    /// Highest perf_event_paranoid at which users may sample their own threads in user mode, and count events.
    public static final int SAMPLING_MAX = 2;

    /// Highest value at which users may count events in kernel mode, too.
    public static final int COUNTING_MAX = 1;

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

    /// Why an event is not counted, in kernel mode, too, and the remedy.
    ///
    /// @param errno of perf_event_open(2)
    public static String countingRefusal(KernelEvent event, int errno) {
        if (event.isHardware() && (errno == ENOENT || errno == ENODEV || errno == EOPNOTSUPP)) {
            return "this machine shows no hardware counters, like most virtual machines: let the host pass them on, or"
                    + " count one of " + KernelEvent.software();
        }
        return switch (errno) {
            case EACCES -> "the kernel refuses to count for this user: " + refusal(paranoid(), COUNTING_MAX, "it");
            case EPERM -> "perf_event_open is forbidden here, as in many containers";
            case ENOENT -> "this kernel does not count it";
            case EBADF -> "unshare is refused here, and the agent needs its own descriptor table";
            case EINVAL -> "this kernel cannot count threads together: Linux 5.13 or later is needed";
            case EMFILE -> "it needs a descriptor per thread: raise ulimit -n";
            default -> "perf_event_open is refused: errno " + errno;
        };
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
