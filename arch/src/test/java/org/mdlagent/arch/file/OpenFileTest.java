package org.mdlagent.arch.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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

    /// The JDK's URI of a link to a directory ends with a slash, behind which the kernel follows it.
    @Test
    void shouldOpenALinkToADirectoryAndNotTheDirectory(@TempDir Path root) throws Exception {
        Path link = Files.createSymbolicLink(root.resolve("link"), Files.createDirectory(root.resolve("directory")));

        try (OpenFile opened = OpenFile.place(OpenFile.bytes(link))) {
            assertThat(opened.isLink()).isTrue();
            assertThat(opened.target()).isEqualTo(OpenFile.bytes(root.resolve("directory")));
        }
    }
}
