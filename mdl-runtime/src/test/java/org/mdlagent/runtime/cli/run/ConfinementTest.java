package org.mdlagent.runtime.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Limits as the kernel writes them.
class ConfinementTest {
    @TempDir
    private Path root;

    @Test
    void shouldKnowNoLimitWhereNothingIsSaid() {
        assertThat(Confinement.read(root)).isEqualTo(new Confinement(false, false, Long.MAX_VALUE, Long.MAX_VALUE));
    }

    @Test
    void shouldReadWhatTheKernelSays() throws IOException {
        write("proc/self/status", "Name:\tjava\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n");
        write("proc/self/limits", """
                Limit                     Soft Limit           Hard Limit           Units
                Max resident set          unlimited            unlimited            bytes
                Max address space         2147483648           unlimited            bytes
                """);
        write("sys/fs/cgroup/memory.max", "134217728\n");

        assertThat(Confinement.read(root)).isEqualTo(new Confinement(true, true, 2L << 30, 128L << 20));
    }

    @Test
    void shouldReadLimitsOfTheOlderControlGroups() throws IOException {
        write("proc/self/limits", "Max address space         unlimited            unlimited            bytes\n");
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");

        assertThat(Confinement.read(root).addressSpaceMax()).isEqualTo(Long.MAX_VALUE);
        assertThat(Confinement.read(root).memoryMax()).isEqualTo(Long.MAX_VALUE);
    }

    private void write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }
}
