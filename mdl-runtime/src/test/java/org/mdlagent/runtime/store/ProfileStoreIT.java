package org.mdlagent.runtime.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import net.openhft.chronicle.algo.hashing.LongHashFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Latency;
import org.mdlagent.profiler.report.profile.Run;
import org.mdlagent.profiler.report.profile.RunProfile;
import org.mdlagent.runtime.Dist;
import org.mdlagent.runtime.cli.terminal.Posix;

/// The store of profiles, when those who write to it are killed, and when its file is damaged.
class ProfileStoreIT {
    private static final int KILLS = 4;
    private static final int MANY_KILLS = 50;
    private static final int FUNCTIONS = 60;

    /// A user that owns nothing here.
    private static final int STRANGER = 65534;

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"profiles", "lock"})
    @Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldNotWaitForAPipeThatHasTheNameOfAFile(String name) throws Exception {
        Path store = Files.createDirectory(directory.resolve("store"));
        Dist.run(
                directory,
                Map.of(),
                List.of("mkfifo", "-m", "600", store.resolve(name).toString()));

        assertThatThrownBy(() -> add(new ProfileStore(store), 1))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(name + ": it is not a regular file of ours");
    }

    /// The n-th run: all of it follows from n.
    private static RunProfile profile(int n) {
        Run run = new Run(
                "app-" + n,
                "/opt/app",
                Instant.ofEpochSecond(1_700_000_000L + n),
                OptionalLong.of(n),
                OptionalLong.of(n),
                true,
                false,
                Map.of("/opt/app", "b" + n % 3));
        List<FunctionProfile> functions = IntStream.range(0, FUNCTIONS)
                .mapToObj(i -> new FunctionProfile(
                        new FunctionProfile.Code("function " + i, "f" + i, null, 0, "/opt/app"),
                        new FunctionProfile.Calls((long) n * i + 1, true, OptionalDouble.empty()),
                        new FunctionProfile.Timed(true, 0, Latency.NONE),
                        FunctionProfile.Times.of(OptionalLong.of(i), OptionalLong.empty()),
                        true))
                .toList();
        return new RunProfile(run, functions);
    }

    private static ProfileStore.Addition add(ProfileStore store, int n) throws IOException {
        RunProfile profile = profile(n);
        return store.add(List.of(new ProfileStore.Candidate(profile.run(), () -> profile)));
    }

    /// What is killed: adds run after run, and says of each when it is in the store.
    static final class Writer {
        public static void main(String[] arguments) throws IOException {
            ProfileStore store = new ProfileStore(Path.of(arguments[0]));
            for (int n = Integer.parseInt(arguments[1]); ; n++) {
                add(store, n);
                System.out.println(n);
            }
        }
    }

    @Test
    void shouldLoseNothingWhenAWriterIsKilled() throws Exception {
        killWriters(KILLS);
    }

    @Tag("soak")
    @Test
    void shouldLoseNothingWhenManyWritersAreKilledInTheAct() throws Exception {
        assertThat(killWriters(MANY_KILLS)).isGreaterThan(MANY_KILLS / 10);
    }

    /// @return how many were killed in the act
    private int killWriters(int kills) throws Exception {
        SplittableRandom random = new SplittableRandom(5);
        ProfileStore store = new ProfileStore(directory.resolve("store"));
        int last = -1;
        int recovered = 0;
        for (int kill = 0; kill < kills; kill++) {
            last = Math.max(last, killWriter(last + 1, random.nextInt(400)));

            List<Run> runs = store.runs();
            int newest = Integer.parseInt(runs.getFirst().id().substring("app-".length()));
            assertThat(newest).as("what it said was there").isGreaterThanOrEqualTo(last);
            last = newest;
            for (int i = 0; i < runs.size(); i++) {
                assertThat(runs.get(i).id()).isEqualTo("app-" + (newest - i));
            }
            assertWhole(store, newest);
            assertWhole(store, newest - runs.size() + 1);
            ProfileStore.Addition addition = add(store, ++last);
            assertThat(addition.taken()).isEqualTo(1);
            recovered += addition.killedWriters().size();
            assertThat(Files.list(directory.resolve("store"))
                            .map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder("lock", "profiles");
        }
        return recovered;
    }

    private static void assertWhole(ProfileStore store, int n) throws IOException {
        RunProfile profile = store.profile("app-" + n);
        assertThat(profile).isNotNull();
        assertThat(profile.functions())
                .usingRecursiveFieldByFieldElementComparatorIgnoringFields("latency")
                .containsExactlyInAnyOrderElementsOf(profile(n).functions());
    }

    /// Returns the last run that it said was in the store.
    private int killWriter(int first, int millis) throws Exception {
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "@src/dist/store-options.txt",
                "-cp",
                Dist.root().resolve("lib/store/values.jar") + ":" + System.getProperty("java.class.path"),
                Writer.class.getName(),
                directory.resolve("store").toString(),
                Integer.toString(first));
        Process writer = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        int last;
        try (BufferedReader said =
                new BufferedReader(new InputStreamReader(writer.getInputStream(), StandardCharsets.UTF_8))) {
            last = Integer.parseInt(said.readLine());
            Thread.sleep(millis);
            // The handle leaves what it has said readable.
            writer.toHandle().destroyForcibly();
            writer.waitFor();
            for (String line = said.readLine(); line != null; line = said.readLine()) {
                last = Integer.parseInt(line);
            }
        }
        return last;
    }

    @Test
    void shouldTellOfDamageAndLeaveTheFileAlone() throws Exception {
        Path file = directory.resolve("store/profiles");
        ProfileStore store = new ProfileStore(file.getParent());
        add(store, 1);
        byte[] whole = Files.readAllBytes(file);
        SplittableRandom random = new SplittableRandom(6);
        for (int round = 0; round < 200; round++) {
            long at = random.nextLong(whole.length);
            try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
                bytes.seek(at);
                bytes.write(whole[(int) at] ^ 1 << random.nextInt(8));
            }
            byte[] damaged = Files.readAllBytes(file);
            assertThatThrownBy(store::runs)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(file + ": ")
                    .hasMessageContaining("mv " + file + " " + file + ".damaged");
            assertThatThrownBy(() -> add(store, 2)).isInstanceOf(IOException.class);
            assertThat(Files.readAllBytes(file)).isEqualTo(damaged);
            Files.write(file, whole);
        }
        try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
            bytes.setLength(whole.length / 2);
        }
        assertThatThrownBy(store::runs).hasMessageContaining("its end is missing");
        Files.move(file, file.resolveSibling("profiles.damaged"));
        assertThat(add(store, 2).taken()).isEqualTo(1);
    }

    @Test
    void shouldKeepTheNewestRunsAndTheFunctionsThatTakeMostTime() throws Exception {
        ProfileStore store = new ProfileStore(directory.resolve("store"));
        List<ProfileStore.Candidate> candidates = IntStream.range(0, 40)
                .mapToObj(ProfileStoreIT::profile)
                .map(profile -> new ProfileStore.Candidate(profile.run(), () -> profile))
                .toList();

        assertThat(store.add(candidates).taken()).isEqualTo(32);
        assertThat(store.runs())
                .extracting(Run::id)
                .hasSize(32)
                .startsWith("app-39")
                .endsWith("app-8");
        assertThat(store.add(candidates).taken()).isZero();
        ProfileStore.Addition addition = add(store, 40);
        assertThat(addition.dropped()).isEqualTo(1);
        assertThat(store.history(run -> true, "f7", any -> false))
                .hasSize(32)
                .last()
                .satisfies(entry -> assertThat(entry.function().calls()).isEqualTo(40 * 7 + 1));
        assertThat(store.history(run -> true, "none", any -> any.name().endsWith(" 7")))
                .hasSize(32);
    }

    /// What a file could name instead of a class of the library.
    static final class Planted {
        static {
            System.setProperty("mdl.planted", "yes");
        }
    }

    /// Writes a file whose map names another class, with sums that are right.
    private static void plant(Path file) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        int length = bytes.getInt(8);
        assertThat(hash(bytes, length)).as("the library's hash").isEqualTo(bytes.getLong(0));
        String text = new String(bytes.array(), 12, length, StandardCharsets.ISO_8859_1);
        String planted =
                text.replaceFirst("net[.a-z]+[.]StringSizedReader", Matcher.quoteReplacement(Planted.class.getName()));
        assertThat(planted).hasSizeLessThan(length);
        bytes.put(12, (planted + " ".repeat(length - planted.length())).getBytes(StandardCharsets.ISO_8859_1));
        bytes.putLong(0, hash(bytes, length));
        int end = bytes.capacity() - 24;
        CRC32C sum = new CRC32C();
        sum.update(bytes.array(), 0, end);
        bytes.order(ByteOrder.BIG_ENDIAN).putLong(end + 16, sum.getValue());
        Files.write(file, bytes.array());
    }

    private static long hash(ByteBuffer bytes, int length) {
        return LongHashFunction.xx_r39().hashBytes(bytes.array(), 8, 4 + length);
    }

    @Test
    void shouldLoadNoClassThatAFileNames() throws Exception {
        Path file = directory.resolve("store/profiles");
        ProfileStore store = new ProfileStore(file.getParent());
        add(store, 1);
        plant(file);

        assertThatThrownBy(store::runs)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("another version of mdl, or by somebody else")
                .hasMessageContaining("mv " + file + " " + file + ".damaged");
        assertThat(System.getProperty("mdl.planted")).isNull();
    }

    private static Path give(Path file) throws IOException {
        assumeThat(Posix.effectiveUser()).as("root makes files of others").isZero();
        return Files.setAttribute(file, "unix:uid", STRANGER, LinkOption.NOFOLLOW_LINKS);
    }

    /// Its owner could exchange what is read, and choose by links where files are made.
    @Test
    void shouldTouchNothingInAnotherUsersDirectory() throws Exception {
        Path theirs = Files.createDirectory(directory.resolve("store"));
        add(new ProfileStore(theirs), 1);
        try (Stream<Path> files = Files.list(theirs)) {
            for (Path file : files.toList()) {
                give(file);
            }
        }
        FileTime before = Files.getLastModifiedTime(give(theirs));
        ProfileStore store = new ProfileStore(theirs);

        assertThatThrownBy(store::runs).hasMessageContaining("it belongs to another user (uid " + STRANGER + ")");
        assertThatThrownBy(() -> add(store, 2)).hasMessageContaining("it belongs to another user");
        assertThat(Files.getLastModifiedTime(theirs)).isEqualTo(before);
    }

    @Test
    void shouldMakeNoStoreInAnotherUsersDirectory() throws Exception {
        Path theirs = give(Files.createDirectory(directory.resolve("theirs")));
        ProfileStore store = new ProfileStore(theirs.resolve("mdl/store"));

        assertThat(store.runs()).isEmpty();
        assertThatThrownBy(() -> add(store, 1)).hasMessageContaining("it belongs to another user");
        assertThat(theirs).isEmptyDirectory();
    }

    @Test
    void shouldFollowNoLink() throws Exception {
        Path elsewhere = Files.createDirectories(directory.resolve("elsewhere"));
        ProfileStore there = new ProfileStore(elsewhere);
        add(there, 1);
        Path store = Files.createDirectories(directory.resolve("store"));
        Files.createSymbolicLink(store.resolve("profiles"), elsewhere.resolve("profiles"));

        assertThatThrownBy(() -> new ProfileStore(store).runs()).isInstanceOf(IOException.class);
        assertThatThrownBy(() ->
                        add(new ProfileStore(give(Files.createSymbolicLink(directory.resolve("link"), elsewhere))), 2))
                .isInstanceOf(IOException.class);
    }
}
