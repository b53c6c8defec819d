package org.mdlagent.runtime.cli.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.profiler.report.file.SessionFormatException;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.cli.FakeSession;
import org.mdlagent.runtime.cli.terminal.Posix;

class SharedMemoryTest {
    /// Beyond the kernel's highest process id.
    private static final int NOBODY = 5_000_000;

    private static final int READS = 40;
    private static final int EXCHANGES = 500;

    /// Bytes of a session that is quickly written.
    private static final int SHORT = 2 * (int) HeaderDescriptor.SIZE;

    /// A user that owns nothing here.
    private static final int STRANGER = 65534;

    private final SharedMemory shared = new SharedMemory(SharedMemory.DIRECTORY);

    @TempDir
    private Path root;

    private Path memory;

    @BeforeEach
    void nameMemory() throws IOException {
        // What a session links to is looked for in the user's real shared memory only.
        createPrivate(SharedMemory.DIRECTORY);
        memory = SharedMemory.DIRECTORY.resolve(
                "test-" + ProcessHandle.current().pid() + "-" + System.nanoTime() + ".mdl");
    }

    private static void createPrivate(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            Files.createDirectory(
                    directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
    }

    @AfterEach
    void removeMemory() throws IOException {
        Files.deleteIfExists(memory);
    }

    private Path inMemory(long pid, Instant start) throws IOException {
        Path directory = Files.createDirectory(root.resolve("app-1-20260101T000000"));
        Files.write(memory, FakeSession.bytes("app-1-20260101T000000", pid, start.getEpochSecond()));
        Files.createSymbolicLink(directory.resolve("session.mdl"), memory);
        return directory;
    }

    @Test
    void shouldMoveTheDataOfAnEndedProgramOutOfSharedMemory() throws IOException {
        Path session = inMemory(NOBODY, Instant.now());
        byte[] before = Files.readAllBytes(memory);

        shared.settle(session);

        Path file = session.resolve("session.mdl");
        assertThat(memory).doesNotExist();
        assertThat(Files.isSymbolicLink(file)).isFalse();
        assertThat(Files.readAllBytes(file)).isEqualTo(before);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(session).isDirectoryNotContaining("glob:**session.mdl.*");
    }

    @Test
    void shouldLeaveAFileOfTheUsersThatHasTheSocketsName() throws IOException {
        Path session = inMemory(NOBODY, Instant.now());
        Path control = Files.writeString(session.resolve("control"), "Source: precious");

        shared.settle(session);

        assertThat(memory).doesNotExist();
        assertThat(control).hasContent("Source: precious");
    }

    static Process mapping(Path file) throws IOException {
        Process child = new ProcessBuilder(
                        "python3",
                        "-c",
                        "import mmap,os,sys; f=os.open(sys.argv[1], os.O_RDWR); m=mmap.mmap(f, 4096); os.close(f);"
                                + " print('mapped', flush=True); sys.stdin.read()",
                        file.toString())
                .start();
        assertThat(child.inputReader().readLine()).isEqualTo("mapped");
        return child;
    }

    @Test
    void shouldLeaveDataThatAForkedChildStillWrites() throws Exception {
        Path session = inMemory(NOBODY, Instant.now());
        Process child = mapping(memory);
        try {
            shared.settle(session);

            assertThat(memory).exists();
        } finally {
            child.destroy();
            child.waitFor();
        }
        shared.settle(session);
        assertThat(memory).doesNotExist();
    }

    /// Whoever writes how the program ended waits for another `mdl` that is in the middle of moving the data, and then
    /// finds them where they are.
    /// Whatever is in there.
    @Test
    void shouldRemoveWhatAConfinedProcessHasLeft() throws Exception {
        Path left = confined(Instant.now().minus(Duration.ofMinutes(2)));
        Process child = mapping(left);
        try {
            shared.reclaim(List::of);
            assertThat(left).exists();
        } finally {
            child.destroy();
            child.waitFor();
        }

        shared.reclaim(List::of);

        assertThat(left).doesNotExist();
    }

    /// The agent, which writes to the session's data, has not read it for the last time.
    @Test
    void shouldLeaveWhatAnAgentHasYetToRead() throws Exception {
        inMemory(NOBODY, Instant.now());
        Path left = confined(Instant.now().minus(Duration.ofMinutes(2)));
        Process agent = mapping(memory);
        try {
            shared.reclaim(List::of);
            assertThat(left).exists();
        } finally {
            agent.destroy();
            agent.waitFor();
        }

        shared.reclaim(List::of);

        assertThat(left).doesNotExist();
    }

    /// The session's data may be in its directory.
    @Test
    void shouldLeaveForAWhileWhatAConfinedProcessHasJustLeft() throws Exception {
        Path left = confined(Instant.now());

        shared.reclaim(List::of);

        assertThat(left).exists();
        Files.delete(left);
    }

    private Path confined(Instant made) throws IOException {
        String session = memory.getFileName().toString().replace(".mdl", "");
        Path file = Files.write(memory.resolveSibling(session + "-7.apart"), new byte[SHORT]);
        return Files.setLastModifiedTime(file, FileTime.from(made));
    }

    @Test
    void shouldWriteHowAProgramEndedIntoDataThatAnotherIsMoving() throws Exception {
        Path session = inMemory(NOBODY, Instant.now());
        Process mover = new ProcessBuilder(
                        "python3",
                        "-c",
                        """
                        import fcntl,os,shutil,sys
                        data, session = sys.argv[1:]
                        file = os.open(data, os.O_RDONLY)
                        fcntl.flock(file, fcntl.LOCK_EX)
                        shutil.copyfile(data, session + '.new')
                        print('locked', flush=True)
                        sys.stdin.readline()
                        os.rename(session + '.new', session)
                        os.unlink(data)
                        """,
                        memory.toString(),
                        session.resolve("session.mdl").toString())
                .start();
        assertThat(mover.inputReader().readLine()).isEqualTo("locked");
        shared.settle(session);
        assertThat(memory).as("left to the mover").exists();

        Thread writer = Thread.ofPlatform()
                .start(() -> assertThatNoException()
                        .isThrownBy(() -> ProgramState.recordEnd(session, new Posix.Ending(7, 0), Instant.now())));
        String waiting = "-> FLOCK .*:" + Files.getAttribute(memory, "unix:ino") + " .*";
        while (writer.isAlive()
                && Files.readAllLines(Path.of("/proc/locks")).stream()
                        .noneMatch(line -> line.matches(".*" + waiting))) {
            Thread.onSpinWait();
        }
        mover.outputWriter().append('\n').close();
        writer.join();

        assertThat(mover.waitFor()).isZero();
        assertThat(memory).doesNotExist();
        try (SessionReader reader = SessionReader.open(session)) {
            assertThat(reader.facts().process().exitStatus()).hasValue(7);
        }
    }

    private static byte[] shortSession() throws IOException {
        byte[] bytes = Arrays.copyOf(FakeSession.bytes("app-1-20260101T000000", NOBODY, 1), SHORT);
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putLong((int) HeaderDescriptor.ARENA_END, SHORT);
        return bytes;
    }

    @Test
    void shouldReadASessionWhoseDataAreBeingMoved() throws Exception {
        for (int i = 0; i < READS; i++) {
            Path session = Files.createDirectory(root.resolve("app-1-" + i));
            Files.write(memory, shortSession());
            Files.createSymbolicLink(session.resolve("session.mdl"), memory);
            FutureTask<Integer> move = new FutureTask<>(() -> {
                shared.settle(session);
                return 0;
            });
            Thread.ofPlatform().start(move);

            do {
                try (SessionReader reader = SessionReader.open(session)) {
                    assertThat(reader.pid()).isEqualTo(NOBODY);
                }
            } while (!move.isDone());

            assertThat(move.get()).isZero();
            assertThat(memory).doesNotExist();
        }
    }

    @Test
    void shouldLeaveDataInSharedMemoryForWhichADiskHasNoRoom() throws Exception {
        assumeThat(Posix.effectiveUser()).as("root mounts").isZero();
        Path disk = Files.createDirectory(root.resolve("disk"));
        run("mount", "-t", "tmpfs", "-o", "size=16k", "none", disk.toString());
        try {
            Path session = Files.createDirectory(disk.resolve("app-1-20260101T000000"));
            byte[] bytes = FakeSession.bytes("app-1-20260101T000000", NOBODY, 1);
            Arrays.fill(bytes, (int) HeaderDescriptor.SIZE, bytes.length, (byte) 1);
            Files.write(memory, bytes);
            Files.createSymbolicLink(session.resolve("session.mdl"), memory);

            assertThatThrownBy(() -> shared.settle(session))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("No space left");

            assertThat(session).isDirectoryNotContaining("glob:**session.mdl.*");
            try (SessionReader reader = SessionReader.open(session)) {
                assertThat(reader.facts().pid()).isEqualTo(NOBODY);
            }
        } finally {
            run("umount", disk.toString());
        }
    }

    private static void run(String... command) throws Exception {
        assertThat(new ProcessBuilder(command).inheritIO().start().waitFor()).isZero();
    }

    private static void give(Path file) throws IOException {
        Files.setAttribute(file, "unix:uid", STRANGER, LinkOption.NOFOLLOW_LINKS);
    }

    @Test
    void shouldLeaveAnotherUsersSessionAlone() throws Exception {
        assumeThat(Posix.effectiveUser()).as("root looks at it").isZero();
        Path theirs = Path.of("/dev/shm/mdl-" + STRANGER);
        createPrivate(theirs);
        Path data = theirs.resolve(memory.getFileName());
        try {
            give(theirs);
            give(Files.write(data, FakeSession.bytes("app-1-20260101T000000", NOBODY, 1)));
            Path session = Files.createDirectory(root.resolve("theirs"));
            Path link = Files.createSymbolicLink(session.resolve("session.mdl"), data);
            give(link);
            give(session);

            shared.settle(session);

            assertThat(link).isSymbolicLink();
            assertThat(Files.getAttribute(data, "unix:uid")).isEqualTo(STRANGER);
            assertThatThrownBy(() -> SessionReader.open(session))
                    .isInstanceOf(SessionFormatException.class)
                    .hasMessageContaining("another user (uid " + STRANGER + ")");
            assertThatThrownBy(() -> ProgramState.recordEnd(session, new Posix.Ending(7, 0), Instant.now()))
                    .isInstanceOf(IOException.class);
            assertThat(Files.readAllBytes(data)).isEqualTo(FakeSession.bytes("app-1-20260101T000000", NOBODY, 1));
        } finally {
            Files.deleteIfExists(data);
        }
    }

    @Test
    void shouldReadWhatIsInAnotherUsersDirectoryAndLeaveItThere() throws Exception {
        assumeThat(Posix.effectiveUser()).as("root looks at it").isZero();
        Path session = inMemory(NOBODY, Instant.now());
        give(session);

        shared.settle(session);

        assertThat(memory).exists();
        try (SessionReader reader = SessionReader.open(session)) {
            assertThat(reader.facts().pid()).isEqualTo(NOBODY);
        }
    }

    /// The path of root's own session leads elsewhere every other moment.
    @Test
    void shouldChangeNothingElsewhereWhileDirectoriesAreExchanged() throws Exception {
        Path elsewhere = Files.createDirectory(root.resolve("elsewhere"));
        for (String name : List.of("control", "session.mdl.copy")) {
            Files.writeString(elsewhere.resolve(name), "not of a session");
        }
        Path session = inMemory(NOBODY, Instant.now());
        byte[] bytes = shortSession();
        Path link = session.resolve("session.mdl");
        Path path = Files.createSymbolicLink(root.resolve("path"), session);
        Path other = Files.createSymbolicLink(root.resolve("other"), elsewhere);
        Process exchanging = new ProcessBuilder(
                        "python3",
                        "-c",
                        """
                        import ctypes,os,sys
                        libc = ctypes.CDLL(None)
                        while os.getppid() == int(sys.argv[3]):
                            libc.renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2)
                        """,
                        path.toString(),
                        other.toString(),
                        Long.toString(ProcessHandle.current().pid()))
                .start();
        int moved = 0;
        try {
            for (int i = 0; i < EXCHANGES || moved == 0; i++) {
                Files.deleteIfExists(link);
                Files.write(memory, bytes);
                Files.createSymbolicLink(link, memory);
                shared.settle(path);
                moved += Files.exists(memory) ? 0 : 1;
            }
        } finally {
            exchanging.destroy();
            exchanging.waitFor();
        }

        try (Stream<Path> left = Files.list(elsewhere)) {
            assertThat(left.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder("control", "session.mdl.copy");
        }
        assertThat(elsewhere.resolve("session.mdl.copy")).hasContent("not of a session");
    }
}
