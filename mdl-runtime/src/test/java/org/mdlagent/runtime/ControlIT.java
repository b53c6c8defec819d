package org.mdlagent.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A running program is asked, and watched.
class ControlIT {
    private static final long LOOK_MILLIS = 300;

    @TempDir
    Path directory;

    private Process process;
    private Path done;
    private Path session;

    private void start(String options) throws Exception {
        Path program = Dist.compile(directory, "killed", "-finstrument-functions");
        done = directory.resolve("done");
        session = directory.resolve("session");
        ProcessBuilder builder = new ProcessBuilder(List.of(program.toString(), done.toString()));
        builder.environment().putAll(Dist.preload(options + ",wait,session=" + session));
        process = builder.start();
        BufferedReader output = process.inputReader();
        assertThat(output.readLine()).isEqualTo("ready");
    }

    @AfterEach
    void end() throws Exception {
        process.destroyForcibly().waitFor();
    }

    private String ask(String request) throws Exception {
        return Dist.ask(session, request);
    }

    private long calls() throws Exception {
        return Dist.calls(Dist.report(directory, session)).getOrDefault("work", 0L);
    }

    /// What the program itself has counted.
    private long returned() throws Exception {
        return ByteBuffer.wrap(Files.readAllBytes(done))
                .order(ByteOrder.LITTLE_ENDIAN)
                .getLong();
    }

    @ParameterizedTest
    @ValueSource(strings = {"exact", "epochMillis=10"})
    void shouldRecordNothingWhileProbesAreOff(String options) throws Exception {
        start(options);

        assertThat(ask("probes off work")).isEqualTo("ok\n1 function off\n");
        // What was in a ring then has been drained by the second look.
        process.waitFor(LOOK_MILLIS, TimeUnit.MILLISECONDS);
        long off = calls();
        long before = returned();
        process.waitFor(LOOK_MILLIS, TimeUnit.MILLISECONDS);
        assertThat(returned()).isGreaterThan(before);
        assertThat(calls()).isEqualTo(off);

        assertThat(ask("probes on #0")).isEqualTo("ok\n1 function on\n");
        process.waitFor(LOOK_MILLIS, TimeUnit.MILLISECONDS);
        assertThat(calls()).isGreaterThan(off);
    }

    @Test
    void shouldBeForItsUserAlone() throws Exception {
        start("exact");
        Path socket = session.resolve("control");

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(socket)))
                .isEqualTo("rw-------");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(session)))
                .isEqualTo("rwx------");
    }

    @Test
    void shouldSayWhatIsWrongWithARequest() throws Exception {
        start("exact");

        assertThat(ask("frobnicate")).isEqualTo("error this agent knows no frobnicate\n");
        assertThat(ask("probes maybe work")).startsWith("error probes are switched by:");
        assertThat(ask("probes off nobody")).isEqualTo("error no function with probes is nobody\n");
        assertThat(ask("probes off #4711")).isEqualTo("error no function with probes is #4711\n");
    }

    @Test
    void shouldShowLooksAsPlainTextOverAPipe() throws Exception {
        start("exact");

        Dist.Outcome top = Dist.run(
                directory, Map.of(), List.of(Dist.mdl(), "top", "--count=2", "--interval=0.2", session.toString()));

        assertThat(top.status()).isZero();
        assertThat(top.text()).doesNotContain("\u001b");
        assertThat(top.text().lines().filter(line -> line.matches(" +work .* [kMG]/s .*")))
                .hasSize(2);
    }

    @Test
    void shouldShowAScreenAndLeaveTheTerminalWithASummaryWhenTheProgramIsKilled() throws Exception {
        start("exact");
        Path typescript = directory.resolve("typescript");
        String command = "stty rows 24 cols 100; " + Dist.mdl() + " top --interval=0.2 " + session + "; stty -a";
        Process top = new ProcessBuilder("script", "-qefc", command, typescript.toString())
                .redirectInput(ProcessBuilder.Redirect.PIPE)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        for (int tries = 0; tries < 300 && !shows(typescript, "▶ work"); tries++) {
            assertThat(top.waitFor(100, TimeUnit.MILLISECONDS)).isFalse();
        }
        top.getOutputStream().write(' ');
        top.getOutputStream().flush();
        for (int tries = 0; tries < 300 && !shows(typescript, "off from now on: work"); tries++) {
            assertThat(top.waitFor(100, TimeUnit.MILLISECONDS)).isFalse();
        }

        process.destroyForcibly().waitFor();

        assertThat(top.waitFor(60, TimeUnit.SECONDS)).isTrue();
        String screen = Files.readString(typescript);
        String after = screen.substring(screen.lastIndexOf("\u001b[?1049l"));
        assertThat(after)
                .contains(" " + process.pid() + ": ended")
                .contains("session killed-")
                .contains(" icanon ")
                .contains(" echo ");
    }

    private static boolean shows(Path typescript, String text) throws Exception {
        return Files.exists(typescript) && Files.readString(typescript).contains(text);
    }
}
