package org.mdlagent.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `mdl doctor` where something is refused: it says what, and what that means.
class DoctorIT {
    @TempDir
    Path directory;

    @Test
    void shouldExplainWhatASandboxRefuses() throws Exception {
        String confined = Dist.compile(directory, "confined").toString();

        Dist.Outcome outcome = doctor(confined);

        assertThat(outcome.text())
                .contains("note  seccomp        a filter decides on system calls")
                .contains("note  privileges     no_new_privs is set")
                .contains("STOP  kernel ")
                .contains("allow membarrier(2) in the sandbox");
        assertThat(outcome.status()).isEqualTo(1);
    }

    @Test
    void shouldExplainALimitOfTheAddressSpace() throws Exception {
        Dist.Outcome outcome = doctor("prlimit", "--as=" + (4L << 30));

        assertThat(outcome.text()).contains("note  address space  ulimit -v is 4096 MiB");
    }

    @Test
    void shouldExplainThatSharedMemoryIsTooSmall() throws Exception {
        Dist.Outcome outcome =
                doctor("unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=1m none /dev/shm && exec \"$0\" \"$@\"");

        assertThat(outcome.text()).contains("note  /dev/shm       ").contains("a session may not fit");
    }

    @Test
    void shouldExplainSanitizers() throws Exception {
        assertThat(doctorOf("-fsanitize=address")).contains("note  sanitizers     ASan: set ASAN_OPTIONS=");
        assertThat(doctorOf("-fsanitize=thread")).contains("STOP  sanitizers     TSan does not bear the agent");
    }

    private String doctorOf(String flag) throws Exception {
        Path program = Dist.compile(directory, "nothing", "-finstrument-functions", flag);
        return Dist.run(directory, Map.of(), List.of(Dist.mdl(), "doctor", program.toString()))
                .text();
    }

    /// Run by a command that confines it.
    private Dist.Outcome doctor(String... confining) throws Exception {
        List<String> command = new ArrayList<>(List.of(confining));
        command.addAll(List.of(Dist.mdl(), "doctor"));
        return Dist.run(directory, Map.of(), command);
    }
}
