package org.mdlagent.profiler.report.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.arch.file.OpenFile;

/// Another user exchanges what is at a session's name, as fast as he can.
class SessionFileTest {
    private static final int OPENINGS = 2000;
    private static final int STRANGER = 65534;
    private static final byte OWN = 1;
    private static final byte FOREIGN = 2;

    /// renameat2(2) with RENAME_EXCHANGE, again and again: both names are always there.
    private static final String EXCHANGE = """
            import ctypes, sys
            libc = ctypes.CDLL(None)
            a, b = (name.encode() for name in sys.argv[1:3])
            print("ready", flush=True)
            while True: libc.syscall(316, -100, a, -100, b, 2)
            """;

    @TempDir
    private Path root;

    private Process exchanging;

    @BeforeEach
    void assumeRoot() throws IOException {
        assumeThat(Files.getAttribute(root, "unix:uid"))
                .as("root makes files of others")
                .isEqualTo(0);
    }

    @AfterEach
    void stop() throws InterruptedException {
        if (exchanging != null) {
            exchanging.destroyForcibly().waitFor();
        }
    }

    private void exchange(Path one, Path other) throws IOException {
        exchanging = new ProcessBuilder("python3", "-c", EXCHANGE, one.toString(), other.toString()).start();
        assertThat(exchanging.inputReader().readLine()).isEqualTo("ready");
    }

    private static Path give(Path file) throws IOException {
        return Files.setAttribute(file, "unix:uid", STRANGER, LinkOption.NOFOLLOW_LINKS);
    }

    /// How often the session was opened, of many times, and how often refused.
    private record Outcome(int opened, int refused) {}

    private static Outcome open(Path session) throws IOException {
        int opened = 0;
        int refused = 0;
        for (int i = 0; i < OPENINGS; i++) {
            try (OpenFile file = SessionFile.open(session);
                    FileChannel bytes = file.channel(StandardOpenOption.READ)) {
                ByteBuffer first = ByteBuffer.allocate(1);
                bytes.read(first, 0);
                assertThat(first.get(0)).as("whose bytes are read").isEqualTo(OWN);
                opened++;
            } catch (SessionFormatException e) {
                refused++;
            }
        }
        return new Outcome(opened, refused);
    }

    @Test
    void shouldReadNoBytesOfOthers() throws Exception {
        Path session = root.resolve(SessionFile.NAME);
        Files.write(session, new byte[] {OWN});
        exchange(session, give(Files.write(root.resolve("theirs"), new byte[] {FOREIGN})));

        Outcome outcome = open(root);

        assertThat(outcome.opened + outcome.refused).isEqualTo(OPENINGS);
    }

    @Test
    void shouldReadNoBytesOfOthersBehindDirectoriesThatAreExchanged() throws Exception {
        Path own = Files.createDirectory(root.resolve("own"));
        Path theirs = Files.createDirectory(root.resolve("theirs"));
        Files.write(own.resolve(SessionFile.NAME), new byte[] {OWN});
        give(Files.write(theirs.resolve(SessionFile.NAME), new byte[] {FOREIGN}));
        exchange(
                give(Files.createSymbolicLink(root.resolve("link"), own)),
                give(Files.createSymbolicLink(root.resolve("other"), theirs)));

        Outcome outcome = open(root.resolve("link"));

        assertThat(outcome.opened + outcome.refused).isEqualTo(OPENINGS);
    }

    /// Opening it for reading would wait for a writer that never comes.
    @Test
    void shouldNotWaitForAFifo() throws Exception {
        Path session = root.resolve(SessionFile.NAME);
        Files.write(session, new byte[] {OWN});
        Path fifo = root.resolve("fifo");
        assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor())
                .isZero();
        exchange(session, fifo);

        Outcome outcome = open(root);

        assertThat(outcome.opened + outcome.refused).isEqualTo(OPENINGS);
    }
}
