package org.mdlagent.arch.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class OpenFileTest {
    @Test
    void shouldTellAFileFromOneOfAnotherFileSystemWithItsNumber() throws Exception {
        Path processes = Path.of("/proc");
        Path devices = Path.of("/sys");
        assertThat(Files.getAttribute(processes, "unix:ino")).isEqualTo(Files.getAttribute(devices, "unix:ino"));

        try (OpenFile opened = OpenFile.directory(OpenFile.bytes(processes))) {
            assertThat(opened.isAt(OpenFile.bytes(processes))).isTrue();
            assertThat(opened.isAt(OpenFile.bytes(devices))).isFalse();
        }
    }
}
