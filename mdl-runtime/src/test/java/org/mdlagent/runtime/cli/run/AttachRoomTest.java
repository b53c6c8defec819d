package org.mdlagent.runtime.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What a process may still take, by the kernel's files.
class AttachRoomTest {
    private static final int PID = 7;
    private static final long MIB = 1 << 20;

    @TempDir
    private Path root;

    @Test
    void shouldKnowNoLimitWhereNothingIsSaid() {
        assertThat(AttachRoom.of(root, PID, Map.of()))
                .isEqualTo(new AttachRoom(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE));
    }

    @Test
    void shouldSubtractWhatIsUsed() throws IOException {
        write("proc/7/limits", "Max address space         1073741824           unlimited            bytes\n");
        write("proc/7/cgroup", "1:cpu:/other\n0::/outer/inner\n");
        write("sys/fs/cgroup/outer/inner/memory.max", "max\n");
        write("sys/fs/cgroup/outer/memory.max", "104857600\n");
        write("sys/fs/cgroup/outer/memory.current", "94371840\n");
        write("sys/fs/cgroup/outer/memory.stat", "anon 1\ninactive_file 31457280\n");
        write("sys/fs/cgroup/outer/inner/pids.max", "12\n");
        write("sys/fs/cgroup/outer/inner/pids.current", "10\n");

        assertThat(AttachRoom.of(root, PID, Map.of("VmSize", "1024 kB")))
                .isEqualTo(new AttachRoom(1023 * MIB, 40 * MIB, 2));
    }

    private void write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }
}
