package org.mdlagent.runtime.cli.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.cli.terminal.Posix;

/// What this user may trace with ptrace(2). Security modules other than Yama may refuse more.
///
/// @param capable whether this process has CAP_SYS_PTRACE
/// @param scope   `kernel.yama.ptrace_scope`; 0 without Yama
/// @param user    the effective one
record TraceRight(boolean capable, int scope, String user) {
    private static final int CAP_SYS_PTRACE = 19;

    private static final int NOBODY = 3;

    static TraceRight ofThisProcess() throws IOException {
        Path yama = Path.of("/proc/sys/kernel/yama/ptrace_scope");
        String status = Files.readString(Path.of("/proc/self/status"));
        long capabilities = Long.parseUnsignedLong(KernelText.after(status, "CapEff:"), 16);
        return new TraceRight(
                (capabilities >>> CAP_SYS_PTRACE & 1) != 0,
                Files.exists(yama) ? Integer.parseInt(Files.readString(yama).strip()) : 0,
                Integer.toString(Posix.effectiveUser()));
    }

    /// Why this user may trace no process that it has not started itself, with the remedy; null if it may.
    @Nullable
    String refusal() {
        if (scope >= NOBODY) {
            return "kernel.yama.ptrace_scope is " + scope + ", which lasts until the machine starts anew";
        }
        return scope > 0 && !capable
                ? "kernel.yama.ptrace_scope is " + scope
                        + ": run mdl as root, or allow it: sysctl kernel.yama.ptrace_scope=0"
                : null;
    }

    /// The same of one process.
    @Nullable
    String refusal(TargetProcess process) {
        if (!capable && !process.users().stream().allMatch(user::equals)) {
            return "the process is another user's: run mdl as root";
        }
        return refusal();
    }
}
