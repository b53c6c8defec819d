package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// When the agent cannot work, the program runs to its normal end and the reason stands in the log or on the
/// command line.
class FailureIT {
    /// What a JVM refuses to start with.
    private static final Map<String, String> JVM_OPTIONS =
            Map.of("JAVA_TOOL_OPTIONS", "-Xnothing", "_JAVA_OPTIONS", "-Xnothing", "JDK_JAVA_OPTIONS", "-Dnothing=1");

    @TempDir
    Path directory;

    private Path program;
    private Path session;
    private Dist.Outcome alone;

    @BeforeEach
    void runAlone() throws Exception {
        program = Dist.compile(directory, "threads", "-finstrument-functions");
        session = directory.resolve("session");
        alone = Dist.run(directory, Map.of(), List.of(program.toString()));
        assertThat(alone.status()).isZero();
        assertThat(alone.text()).contains("main 1");
    }

    /// It is gone before there is a session with a log.
    @Test
    void shouldSayWhyAProgramThatConfinesItselfAtOnceHasNoSession() throws Exception {
        String confined = Dist.compile(directory, "confined").toString();
        Path state = directory.resolve("state");
        Map<String, String> environment = new HashMap<>(Dist.preload("startDelayMillis=3600000"));
        environment.put("XDG_STATE_HOME", state.toString());

        Dist.Outcome outcome = Dist.run(directory, environment, List.of(confined, "/bin/true"));

        assertThat(outcome.status()).isZero();
        assertThat(Files.readString(state.resolve("mdl/agent.log")))
                .containsPattern(Pattern.quote(confined) + " \\(\\d+\\) has no session, unless it begins threads: "
                        + "the program does what it must be alone for: ");
    }

    @Test
    void shouldRunWithoutJavaRuntime() throws Exception {
        Path dist = copyOfDist();
        Path runtime = dist.resolve("runtime");
        Files.move(runtime, dist.resolve("elsewhere"));

        assertThat(runUnder(dist, "wait,session=" + session)).contains("libjvm.so");
    }

    @Test
    void shouldRunWithCorruptRuntimeImage() throws Exception {
        Path dist = copyOfDist();
        try (FileChannel modules = FileChannel.open(dist.resolve("runtime/lib/modules"), StandardOpenOption.WRITE)) {
            modules.truncate(modules.size() / 2);
        }

        assertThat(runUnder(dist, "wait,session=" + session)).contains("JVM");
    }

    @Test
    void shouldRunWithCorruptJvmLibrary() throws Exception {
        Path dist = copyOfDist();
        try (FileChannel library =
                FileChannel.open(dist.resolve("runtime/lib/server/libjvm.so"), StandardOpenOption.WRITE)) {
            library.truncate(100_000);
        }

        assertThat(runUnder(dist, "wait,session=" + session)).contains("libjvm.so");
    }

    @Test
    void shouldStartWithoutReadingTheEnvironmentThatTheProgramChanges() throws Exception {
        Path hides = Dist.compile(directory, "hides_environment", "-finstrument-functions");
        Path over = directory.resolve("over");
        Process process =
                Dist.start(List.of(hides.toString(), over.toString()), "startDelayMillis=0,session=" + session);
        try {
            Dist.await("the agent", () -> !process.isAlive() || log().contains(" armed after "));
            Files.createFile(over);
            assertThat(process.waitFor()).isZero();
        } finally {
            process.destroyForcibly();
        }
        assertThat(log()).contains(" armed after ");
    }

    /// A shell does so, too: what the program exports comes before what is preloaded.
    @Test
    void shouldStartWithoutAskingAProgramThatExportsAGetenvOfItsOwn() throws Exception {
        Path own = Dist.compile(directory, "own_getenv", "-finstrument-functions", "-rdynamic");
        Map<String, String> environment = new HashMap<>(Dist.preload("wait,session=" + session));
        environment.putAll(JVM_OPTIONS);

        Dist.Outcome outcome = Dist.run(directory, environment, List.of(own.toString()));

        assertThat(outcome).isEqualTo(new Dist.Outcome(0, outcome.out(), ""));
        assertThat(outcome.text()).isEqualTo("-Xnothing -Dnothing=1\n");
        assertThat(log()).contains(" armed after ");
    }

    @Test
    void shouldKeepOptionsForOtherJvmsFromTheCommandAndGiveThemToTheProgram() throws Exception {
        Path own = Dist.compile(directory, "own_getenv");
        List<String> run = List.of(Dist.mdl(), "run", "--session", session.toString(), "--", own.toString());

        Dist.Outcome outcome = Dist.run(directory, JVM_OPTIONS, run);
        assertThat(outcome.text()).isEqualTo("-Xnothing -Dnothing=1\n");
        assertThat(outcome.err()).doesNotContain("Picked up").doesNotContain("Unrecognized");
        assertThat(outcome.status()).isZero();
    }

    /// Nobody writes to them: who opened them would wait for ever.
    @Test
    void shouldStartWithPipesWhereFilesAreExpected() throws Exception {
        Path pipe = directory.resolve("pipe");
        assertThat(Dist.run(directory, Map.of(), List.of("mkfifo", pipe.toString()))
                        .status())
                .isZero();
        Map<String, String> environment = new HashMap<>(Dist.preload("wait,mdl=" + pipe + ",session=" + session));
        environment.put("MDL_CONFIG", pipe.toString());

        assertSame(Dist.run(directory, environment, List.of(program.toString())));

        assertThat(log())
                .contains(" armed after ", pipe + " cannot be read: " + pipe, "mdl=" + pipe + " cannot be read: ");
        Dist.Outcome run =
                Dist.run(directory, Map.of(), List.of(Dist.mdl(), "run", "--mdl=" + pipe, program.toString()));
        assertThat(run.err()).contains(pipe + ": it is not a regular file");
    }

    private String log() throws IOException {
        Path log = session.resolve("agent.log");
        return Files.exists(log) ? Files.readString(log) : "";
    }

    @Test
    void shouldRunWhenSessionDirectoryCannotBeWritten() throws Exception {
        Dist.Outcome under =
                Dist.run(directory, Dist.preload("wait,session=/proc/mdl-session"), List.of(program.toString()));

        assertSame(under);
        Path log = newestLog(Path.of("/tmp/mdl-" + uid()));
        assertThat(Files.readString(log)).contains("/proc/mdl-session");
        Files.move(Objects.requireNonNull(log.getParent()), session); // goes with the test's directory
    }

    @Test
    void shouldRunWithOneMebibyteLeftInSharedMemory() throws Exception {
        Map<String, String> environment = Map.of("MDL_OPTIONS", "wait,exact,session=" + session);
        // `env` sets LD_PRELOAD last, so that neither the shell nor mount is the session's process.
        List<String> command = List.of(
                "unshare",
                "-m",
                "sh",
                "-c",
                "mount -t tmpfs -o size=1m none /dev/shm && exec env LD_PRELOAD=" + Dist.shim() + " \"$0\"",
                program.toString());

        Dist.Outcome under = Dist.run(directory, environment, command);

        assertSame(under);
        assertThat(Files.readString(session.resolve("agent.log"))).contains("/dev/shm");
        // It found room in the session's directory.
        JsonNode report = Dist.report(directory, session);
        assertThat(Dist.calls(report)).containsKeys("recurse", "leaf");
    }

    /// Whoever starts a program that runs as another user must not choose what is loaded, and where it writes. The
    /// dynamic linker takes nothing from the environment there, but what the administrator preloads into all
    /// programs.
    @Test
    void shouldLeaveSetUserProgramsAlone() throws Exception {
        List<String> command = List.of(
                "unshare",
                "-m",
                "sh",
                "-c",
                """
                set -e
                mkdir etc
                mount -t tmpfs none etc
                cp -a /etc/. etc
                mount --bind etc /etc
                echo "$1" >/etc/ld.so.preload
                chmod a+rx . && chmod u+s "$0"
                MDL_OPTIONS=wait exec setpriv --reuid=65534 --clear-groups "$0"
                """,
                program.toString(),
                Dist.shim().toString());

        Dist.Outcome under = Dist.run(directory, Map.of(), command);

        assertSame(under);
        try (Stream<Path> sessions = Files.list(directory.resolve("state/mdl/sessions"))) {
            assertThat(sessions.map(path -> path.getFileName().toString()))
                    .allMatch(name -> name.startsWith("setpriv-"))
                    .isNotEmpty();
        }
    }

    /// Where the JVM has room, but the threads' first probes have none, all calls would be lost.
    @ParameterizedTest
    @ValueSource(longs = {768, 1100})
    void shouldStepAsideWhereTheAddressSpaceIsTooSmall(long mebibytes) throws Exception {
        runWithAddressSpace(mebibytes);

        assertThat(log()).contains("leaves no room for a JVM");
    }

    @Test
    void shouldSeeEveryCallWhereTheAddressSpaceIsJustLargeEnough() throws Exception {
        runWithAddressSpace(1536);

        assertThat(Dist.calls(Dist.report(directory, session)))
                .isEqualTo(Dist.calls(Dist.report(directory, unlimited())))
                .containsKey("recurse");
    }

    private Path unlimited() throws Exception {
        Path other = directory.resolve("unlimited");
        assertSame(Dist.run(directory, Dist.preload("wait,exact,session=" + other), List.of(program.toString())));
        return other;
    }

    private void runWithAddressSpace(long mebibytes) throws Exception {
        // `env` sets LD_PRELOAD last, so that prlimit is not the session's process.
        List<String> command =
                List.of("prlimit", "--as=" + (mebibytes << 20), "env", "LD_PRELOAD=" + Dist.shim(), program.toString());
        assertSame(Dist.run(directory, Map.of("MDL_OPTIONS", "wait,exact,session=" + session), command));
    }

    @Test
    void shouldRefuseUnknownOptionOnTheCommandLine() throws Exception {
        Dist.Outcome refused =
                Dist.run(directory, Map.of(), List.of(Dist.mdl(), "run", "--no-such-option", "--", program.toString()));

        assertThat(refused.status()).isEqualTo(2);
        assertThat(refused.out()).isEmpty();
        assertThat(refused.err()).contains("--no-such-option");
    }

    @Test
    void shouldRunAndSayUnknownOptionInTheLog() throws Exception {
        assertThat(runUnder(Dist.root(), "wait,noSuchKey=1,countedMean=many,session=" + session))
                .contains("noSuchKey")
                .contains("countedMean");
        assertThat(Dist.calls(Dist.report(directory, session))).containsKey("recurse");
    }

    /// The log of a run under the agent of `dist`, which must not differ from one without it.
    private String runUnder(Path dist, String options) throws Exception {
        Dist.Outcome under = Dist.run(
                directory,
                Map.of("LD_PRELOAD", dist.resolve("lib/libmdlagent.so").toString(), "MDL_OPTIONS", options),
                List.of(program.toString()));
        assertSame(under);
        return Files.readString(session.resolve("agent.log"));
    }

    private void assertSame(Dist.Outcome under) {
        assertThat(under.text()).isEqualTo(alone.text());
        assertThat(under.err()).isEqualTo(alone.err());
        assertThat(under.status()).isEqualTo(alone.status());
    }

    private Path copyOfDist() throws Exception {
        Path copy = directory.resolve("dist");
        Dist.Outcome outcome = Dist.run(
                directory,
                Map.of(),
                List.of(
                        "sh",
                        "-c",
                        "mkdir \"$1\" && cp -r \"$0/bin\" \"$0/lib\" \"$0/runtime\" \"$1\"",
                        Dist.root().toString(),
                        copy.toString()));
        assertThat(outcome.status()).as(outcome.err()).isZero();
        return copy;
    }

    private static Path newestLog(Path parent) throws IOException {
        try (Stream<Path> logs = Files.find(parent, 3, (path, attributes) -> path.endsWith("agent.log"))) {
            return logs.max((a, b) ->
                            Long.compare(a.toFile().lastModified(), b.toFile().lastModified()))
                    .orElseThrow();
        }
    }

    private static long uid() throws IOException {
        return (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    }
}
