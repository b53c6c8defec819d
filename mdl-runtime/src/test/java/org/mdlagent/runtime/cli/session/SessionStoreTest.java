package org.mdlagent.runtime.cli.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.cli.FakeSession;
import org.mdlagent.runtime.cli.terminal.Posix;

class SessionStoreTest {
    /// Beyond the kernel's highest process id.
    private static final int NOBODY = 5_000_000;

    /// A user that owns nothing here.
    private static final int STRANGER = 65534;

    @TempDir
    private Path root;

    private final List<String> notices = new ArrayList<>();
    private SessionStore store;
    private Path orphans;

    @BeforeEach
    void createStore() throws IOException {
        // Not the user's real shared memory: what others have left there is not for a test to reclaim.
        orphans = root.resolve("memory");
        store = new SessionStore(List.of(root, root.resolve("not-there")), orphans, notices::add);
    }

    @Test
    void shouldFindTheNewestByTheTimeInItsName() throws IOException {
        FakeSession.in(root, "zebra-12-20260101T120000", 12, 1);
        Path newest = FakeSession.in(root, "app-9-20260102T000000", 9, 1);
        FakeSession.in(root, "app-8-20260101T235959", 8, 1);
        FakeSession.in(root, "demo-20260101T110000-30753", 7, 1);
        Files.createDirectory(root.resolve("empty-1-20270101T000000"));

        assertThat(store.find(null)).isEqualTo(newest);
        assertThat(store.all()).hasSize(4);
    }

    @Test
    void shouldFindASessionByProcessNameOrPath() throws IOException {
        Path zebra = FakeSession.in(root, "zebra-12-20260101T120000", 12, 1);
        Path app = FakeSession.in(root, "app-9-20260102T000000", 9, 1);

        assertThat(store.find("12")).isEqualTo(zebra);
        assertThat(store.find("ze")).isEqualTo(zebra);
        assertThat(store.find("app-9-20260102T000000")).isEqualTo(app);
        assertThat(store.find(zebra.toString())).isEqualTo(zebra);
        assertThat(store.find(root.toString())).isEqualTo(app);
    }

    @Test
    void shouldSayWhatThereIsNot() {
        assertThatThrownBy(() -> store.find(null)).hasMessage("there is no session yet");
        assertThatThrownBy(() -> store.find("999999999")).hasMessage("there is no session 999999999");
        String foreign = Long.toString(ProcessHandle.current().pid());
        assertThatThrownBy(() -> store.find(foreign)).hasMessage("process " + foreign + " has no agent");
    }

    @Test
    void shouldFindTheProgramThatAPrefixMeans() throws IOException {
        Path server = FakeSession.in(root, "redis-server-12-20260101T120000", 12, 1);
        Path cli = FakeSession.in(root, "redis-cli-13-20260101T120001", 13, 1);
        Path redis = FakeSession.in(root, "redis-14-20250101T120000-2", 14, 1);

        assertThat(store.find("redis-s")).isEqualTo(server);
        assertThat(store.find("redis-cli")).isEqualTo(cli);
        assertThat(store.find("redis")).isEqualTo(redis);
        assertThatThrownBy(() -> store.find("redis-"))
                .hasMessage("redis- is ambiguous: redis, redis-cli, redis-server");
    }

    /// Tests run in the module's directory, which has a directory `src`.
    @Test
    void shouldPreferASessionToADirectoryOfTheSameName() throws IOException {
        assertThatThrownBy(() -> store.find("src")).hasMessage("src holds no session");
        Path session = FakeSession.in(root, "src-12-20260101T120000", 12, 1);

        assertThat(store.find("src")).isEqualTo(session);
    }

    /// As an agent leaves them in shared memory that knows the session's directory.
    private void writeMemory(Path file, long pid, Path directory) throws IOException {
        byte[] bytes =
                FakeSession.bytes("app-1-20260101T000000", pid, Instant.now().getEpochSecond());
        byte[] path = directory.toString().getBytes(StandardCharsets.UTF_8);
        System.arraycopy(path, 0, bytes, (int) HeaderDescriptor.DIRECTORY, path.length);
        Files.write(file, bytes);
    }

    @Test
    void shouldFreeTheMemoryOfEndedProgramsWhereverTheirSessionsAre(@TempDir Path elsewhere) throws IOException {
        Path file = Files.createDirectory(orphans).resolve("app.mdl");
        writeMemory(file, NOBODY, elsewhere);
        Files.createSymbolicLink(elsewhere.resolve("session.mdl"), file);

        store.reclaim();

        assertThat(file).doesNotExist();
        assertThat(elsewhere.resolve("session.mdl")).isRegularFile().hasSize(FakeSession.SIZE);
        try (SessionReader reader = SessionReader.open(elsewhere)) {
            assertThat(reader.facts().pid()).isEqualTo(NOBODY);
        }
    }

    @Test
    void shouldFreeTheMemoryOfASessionThatWasMoved() throws IOException {
        Path file = Files.createDirectory(orphans).resolve("app.mdl");
        writeMemory(file, NOBODY, root.resolve("gone"));
        Path moved = Files.createDirectory(root.resolve("kept"));
        Files.createSymbolicLink(moved.resolve("session.mdl"), file);

        store.reclaim();

        assertThat(file).doesNotExist();
        assertThat(moved.resolve("session.mdl")).isRegularFile().hasSize(FakeSession.SIZE);
    }

    @Test
    void shouldRemoveFromSharedMemoryWhatNoSessionLeadsToAndNothingElse() throws Exception {
        Path directory = Files.createDirectory(orphans);
        Path gone = root.resolve("gone");
        Path taken = Files.createDirectory(root.resolve("taken"));
        Files.createSymbolicLink(taken.resolve("session.mdl"), directory.resolve("another.mdl"));
        writeMemory(directory.resolve("orphan.mdl"), NOBODY, gone);
        writeMemory(directory.resolve("running.mdl"), NOBODY, gone);
        writeMemory(directory.resolve("taken.mdl"), NOBODY, taken);
        writeMemory(directory.resolve("other-name"), NOBODY, gone);
        FileTime earlier = FileTime.from(Instant.now().minusSeconds(3600));
        Files.setLastModifiedTime(Files.write(directory.resolve("unbegun.mdl"), new byte[FakeSession.SIZE]), earlier);
        Files.write(directory.resolve("beginning.mdl"), new byte[FakeSession.SIZE]);
        Files.setLastModifiedTime(Files.writeString(directory.resolve("text.mdl"), "no session at all"), earlier);
        Files.createSymbolicLink(directory.resolve("link.mdl"), directory.resolve("other-name"));
        Files.createDirectory(directory.resolve("directory.mdl"));
        Process running = SharedMemoryTest.mapping(directory.resolve("running.mdl"));

        try {
            store.reclaim();
        } finally {
            running.destroy();
            running.waitFor();
        }

        try (Stream<Path> left = Files.list(directory)) {
            assertThat(left.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder(
                            "running.mdl", "beginning.mdl", "text.mdl", "other-name", "link.mdl", "directory.mdl");
        }
    }

    /// A container's, which shares this memory but not the directory of sessions.
    @ParameterizedTest
    @ValueSource(longs = {HeaderDescriptor.MOUNT_NAMESPACE, HeaderDescriptor.ROOT_DEVICE, HeaderDescriptor.ROOT_INODE})
    void shouldKeepForADayWhatBelongsToASessionThatItCannotSee(long field) throws IOException {
        Path file = Files.createDirectory(orphans).resolve("app.mdl");
        writeMemory(file, NOBODY, root.resolve("elsewhere"));
        write(file, field, Long.BYTES, 7);

        store.reclaim();
        assertThat(file).exists();

        Instant start = Instant.now().minus(Duration.ofHours(47));
        write(file, HeaderDescriptor.START_REAL_NANOS, Long.BYTES, start.getEpochSecond() * 1_000_000_000);
        write(
                file,
                HeaderDescriptor.NOW_MONO_NANOS,
                Long.BYTES,
                Duration.ofHours(24).toNanos());
        store.reclaim();
        assertThat(file).exists();

        write(
                file,
                HeaderDescriptor.NOW_MONO_NANOS,
                Long.BYTES,
                Duration.ofHours(22).toNanos());
        store.reclaim();
        assertThat(file).doesNotExist();
    }

    @Test
    void shouldKeepAnOrphanThatAForkedChildStillWrites() throws Exception {
        Path file = Files.createDirectory(orphans).resolve("orphan.mdl");
        writeMemory(file, NOBODY, root.resolve("gone"));
        Process child = SharedMemoryTest.mapping(file);
        try {
            store.reclaim();

            assertThat(file).exists();
        } finally {
            child.destroy();
            child.waitFor();
        }
        store.reclaim();
        assertThat(file).doesNotExist();
    }

    /// The session's time is one that the clock had before it was set: years ago, or years ahead.
    @ParameterizedTest
    @ValueSource(longs = {1_577_836_800, 4_102_444_800L})
    void shouldKnowThatAProgramRunsWhateverTheClockWasSetTo(long startSeconds) throws IOException {
        int pid = (int) ProcessHandle.current().pid();
        Path session = FakeSession.in(root, "app-1-20200101T000000", pid, startSeconds);

        try (SessionReader reader = SessionReader.open(session)) {
            assertThat(ProgramState.runs(reader.facts())).isTrue();
        }
        assertThat(store.of(pid, ProgramState.start(pid), session)).isEqualTo(session);
    }

    @ParameterizedTest
    @ValueSource(longs = {HeaderDescriptor.START_TICKS, HeaderDescriptor.BOOT})
    void shouldTellAProcessFromAnotherWithItsId(long field) throws IOException {
        int pid = (int) ProcessHandle.current().pid();
        Path session = FakeSession.in(root, "app-1-20200101T000000", pid, 1_577_836_800);
        try (FileChannel file = FileChannel.open(session.resolve("session.mdl"), StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.wrap(new byte[] {'!'}), field);
        }

        try (SessionReader reader = SessionReader.open(session)) {
            assertThat(ProgramState.runs(reader.facts())).isFalse();
        }
        assertThat(store.of(pid, ProgramState.start(pid), session)).isNull();
    }

    @Test
    void shouldWriteHowAProgramEnded() throws IOException {
        Path session = FakeSession.in(root, "app-1-20260101T000000", NOBODY, 1_767_225_600);
        Instant end = Instant.ofEpochSecond(1_767_225_601, 500);

        ProgramState.recordEnd(session, new Posix.Ending(-1, 11), end);

        try (SessionReader reader = SessionReader.open(session)) {
            SessionFacts facts = reader.facts();
            assertThat(facts.process().exitSignal()).hasValue(11);
            assertThat(facts.process().exitStatus()).isEmpty();
            assertThat(facts.ended()).isEqualTo(end);
            assertThat(facts.state()).isEqualTo(SessionFacts.State.ENDED);
        }
        ProgramState.recordEnd(session, new Posix.Ending(7, 0), end.plusSeconds(5));
        try (SessionReader reader = SessionReader.open(session)) {
            assertThat(reader.facts().process().exitStatus()).hasValue(7);
            assertThat(reader.facts().ended()).as("known already").isEqualTo(end);
        }
    }

    @Test
    void shouldFindTheSessionOfARunInTheDirectoryItWasGivenAndNotThatOfAChild() throws IOException {
        Path given = root.resolve("out");
        String child = "child-" + (NOBODY + 1) + "-20260101T000001";
        FakeSession.in(root, "out", NOBODY, 1_767_225_600);
        FakeSession.in(given, child, NOBODY + 1, 1_767_225_601);
        SessionFacts.ProcessStart start = new SessionFacts.ProcessStart("", 0);

        assertThat(store.of(NOBODY, start, given)).isEqualTo(given);
        assertThat(store.of(NOBODY + 1, start, given)).isEqualTo(given.resolve(child));
        assertThat(store.of(NOBODY, new SessionFacts.ProcessStart("", 1), given))
                .as("a session of an earlier run")
                .isNull();
    }

    /// `timeout nice app`, each with a session, the wrappers' since they have outlived the program.
    @Test
    void shouldFindTheProgramThatWrappersHaveWaitedFor() throws IOException {
        Path given = FakeSession.in(root, "timeout", NOBODY, 1_767_225_600);
        Path app = FakeSession.in(given, "app", NOBODY + 2, 1_767_225_601);
        Path inner = FakeSession.in(given, "nice", NOBODY + 1, 1_767_225_602);
        write(app.resolve("session.mdl"), HeaderDescriptor.WRAPPER, Integer.BYTES, NOBODY);
        write(inner.resolve("session.mdl"), HeaderDescriptor.WRAPPER, Integer.BYTES, NOBODY);
        SessionFacts.ProcessStart start = new SessionFacts.ProcessStart("", 0);

        assertThat(store.of(NOBODY, start, given)).isEqualTo(app);
        assertThat(store.find(given.toString())).isEqualTo(app);

        ProgramState.recordEnd(app, new Posix.Ending(0, 0), Instant.ofEpochSecond(1_767_225_602));
        ProgramState.recordEnd(given, new Posix.Ending(0, 0), Instant.ofEpochSecond(1_767_225_619));
        assertThat(store.of(NOBODY, start, given)).as("it was no wrapper").isEqualTo(given);
    }

    /// A server whose first worker executed a program before the second was forked.
    @Test
    void shouldTakeNoProcessWithSeveralChildrenForAWrapper() throws IOException {
        Path server = FakeSession.in(root, "server", NOBODY, 1_767_225_600);
        Path worker = FakeSession.in(server, "worker", NOBODY + 1, 1_767_225_601);
        write(worker.resolve("session.mdl"), HeaderDescriptor.WRAPPER, Integer.BYTES, NOBODY);
        write(server.resolve("session.mdl"), HeaderDescriptor.FORKS, Long.BYTES, 1);
        assertThat(store.find(server.toString())).isEqualTo(worker);

        write(server.resolve("session.mdl"), HeaderDescriptor.FORKS, Long.BYTES, 2);
        assertThat(store.find(server.toString())).isEqualTo(server);
    }

    /// As `env app` in one process.
    @Test
    void shouldFindTheProgramThatAProcessHasExecutedLast() throws IOException {
        Path given = FakeSession.in(root, "env", NOBODY, 1_767_225_600);
        Path app = FakeSession.in(given, "app", NOBODY, 1_767_225_601);

        assertThat(store.of(NOBODY, new SessionFacts.ProcessStart("", 0), given))
                .isEqualTo(app);
        assertThat(store.find(given.toString())).isEqualTo(app);
    }

    private static void write(Path data, long at, int bytes, long value) throws IOException {
        ByteBuffer field =
                ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(0, value);
        try (FileChannel file = FileChannel.open(data, StandardOpenOption.WRITE)) {
            file.write(field.limit(bytes), at);
        }
    }

    @Test
    void shouldFindASessionInAnotherDirectoryOnceItIsRemembered(@TempDir Path elsewhere) throws IOException {
        Path session = FakeSession.in(elsewhere, "out", 12, 1_767_225_600);
        try (FileChannel file = FileChannel.open(session.resolve("session.mdl"), StandardOpenOption.WRITE)) {
            file.write(
                    ByteBuffer.wrap("app-12-20260101T000000\0".getBytes(StandardCharsets.UTF_8)), HeaderDescriptor.ID);
        }

        store.remember(session);

        assertThat(store.find("12").toRealPath()).isEqualTo(session.toRealPath());
    }

    private static Path give(Path file) throws IOException {
        assumeThat(Posix.effectiveUser()).as("root makes files of others").isZero();
        return Files.setAttribute(file, "unix:uid", STRANGER, LinkOption.NOFOLLOW_LINKS);
    }

    private SessionStore with(Path other) {
        return new SessionStore(List.of(root, other), orphans, notices::add);
    }

    /// `/tmp/mdl-UID`, which whoever comes first may make.
    @Test
    void shouldSkipADirectoryThatSomebodyElseHasMade(@TempDir Path temporary) throws IOException {
        Path own = FakeSession.in(root, "app-9-20260102T000000", 9, 1);
        Path other = temporary.resolve("mdl-0");
        give(FakeSession.in(other, "x-1-29991231T235959", 1, 1));
        give(other);
        SessionStore both = with(other);

        assertThat(both.find(null)).isEqualTo(own);
        assertThat(both.all()).containsExactly(own);
        assertThat(notices).containsExactly(other + ": left out: it belongs to another user (uid " + STRANGER + ")");
    }

    @Test
    void shouldSkipALinkThatSomebodyElseHasMade(@TempDir Path temporary) throws IOException {
        Path own = FakeSession.in(root, "app-9-20260102T000000", 9, 1);
        Path loop = temporary.resolve("mdl-0");
        give(Files.createSymbolicLink(loop, loop));
        SessionStore both = with(loop);

        assertThat(both.all()).containsExactly(own);
        assertThat(notices).containsExactly(loop + ": left out: it belongs to another user (uid " + STRANGER + ")");
    }

    @Test
    void shouldSkipADirectoryWhereOthersMayWrite(@TempDir Path temporary) throws IOException {
        Path own = FakeSession.in(root, "app-9-20260102T000000", 9, 1);
        Path other = temporary.resolve("mdl-0");
        FakeSession.in(other, "x-1-29991231T235959", 1, 1);
        Files.setPosixFilePermissions(other, PosixFilePermissions.fromString("rwxrwxrwx"));
        SessionStore both = with(other);

        assertThat(both.all()).containsExactly(own);
        assertThat(notices).containsExactly(other + ": left out: others may write to it (chmod go-w)");
    }

    @Test
    void shouldFollowALinkOfOnesOwn(@TempDir Path temporary) throws IOException {
        Path other = Files.createSymbolicLink(temporary.resolve("link"), Files.createDirectory(root.resolve("data")));
        FakeSession.in(other, "app-9-20260102T000000", 9, 1);

        assertThat(with(other).all()).containsExactly(other.resolve("app-9-20260102T000000"));
        assertThat(notices).isEmpty();
    }

    @Test
    void shouldLeaveOutEntriesOfOthersAndKeepAllOfOnesOwn() throws Exception {
        Path own = FakeSession.in(root, "app-9-20260102T000000", 9, 1);
        give(FakeSession.in(root, "x-1-29991231T235959", 1, 1));
        give(Files.createSymbolicLink(root.resolve("y-1-29991231T235959"), own));
        give(FakeSession.in(root, "z-1-29991231T235959", 1, 1).resolve("session.mdl"));
        give(Files.createFile(root.resolve("file")));
        Path loop = root.resolve("loop");
        Files.createSymbolicLink(loop, loop);

        assertThat(store.find(null)).isEqualTo(own);
        assertThat(store.all()).containsExactly(own);
        assertThat(notices).containsExactly(root + ": left out 3 of its entries, which belong to other users");
    }

    /// Another process changes the times of the files while they are sorted, as fast as it can.
    @Test
    void shouldListSessionsWhoseTimesChangeMeanwhile() throws Exception {
        for (int i = 0; i < 200; i++) {
            FakeSession.in(root, "app" + i + "-1-20260101T000000", NOBODY, 1);
        }
        Process churn = new ProcessBuilder(
                        "python3",
                        "-c",
                        "import os,random,sys,glob\nfs=glob.glob(sys.argv[1]+'/*/session.mdl')\nprint(len(fs),flush=True)\n"
                                + "while True:\n for f in fs: os.utime(f,(0,random.randrange(10**9)))\n",
                        root.toString())
                .start();
        try {
            assertThat(churn.inputReader().readLine()).isEqualTo("200");
            for (int i = 0; i < 50; i++) {
                assertThat(store.all()).hasSize(200);
            }
        } finally {
            churn.destroyForcibly().waitFor();
        }
    }
}
