package org.mdlagent.runtime.options;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Nobody writes to the pipe, or reads from it: who opened it would wait for ever.
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RegularFileTest {
    @TempDir
    Path directory;

    private Path pipe;

    @BeforeEach
    void makePipe() throws Exception {
        pipe = directory.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
    }

    @Test
    void shouldRefuseWhatIsNoFile() throws Exception {
        assertThatThrownBy(() -> RegularFile.text(pipe)).hasMessage(pipe + ": it is not a regular file");
        assertThatThrownBy(() -> RegularFile.of(directory)).hasMessage(directory + ": it is not a regular file");
        assertThatThrownBy(() -> RegularFile.of(directory.resolve("absent"))).isInstanceOf(NoSuchFileException.class);
    }

    @Test
    void shouldFollowALinkUnlessItMustNot() throws Exception {
        Path file = Files.writeString(directory.resolve("file"), "text");
        Path link = Files.createSymbolicLink(directory.resolve("link"), file);

        assertThat(RegularFile.text(link)).isEqualTo("text");
        assertThatThrownBy(() -> RegularFile.of(link, LinkOption.NOFOLLOW_LINKS))
                .hasMessage(link + ": it is not a regular file");
    }

    @Test
    void shouldReadNothingWhereNothingIsMeant() throws Exception {
        assertThat(RegularFile.text(Path.of("/dev/null"))).isEmpty();
    }

    @Test
    void shouldWriteNoLogToAPipe() {
        new AgentLog(pipe.toString()).line("nobody reads");
    }
}
