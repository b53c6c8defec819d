package org.mdlagent.runtime.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// `mdl attach` brings the agent into a program that was started without it.
class AttachIT {
    private static final int CALLS = 1000;
    private static final int THREADS = 5;
    private static final int ENDED = 7;

    @TempDir
    Path directory;

    /// A program, how to talk to it, and where its session is.
    private record Attached(Process process, Writer input, BufferedReader output, Path session)
            implements AutoCloseable {
        String ask(String line) throws IOException {
            input.write(line + "\n");
            input.flush();
            return output.readLine();
        }

        int end() throws IOException, InterruptedException {
            input.write("q\n");
            input.flush();
            return process.waitFor();
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }

    private Attached start(String flags, String... arguments) throws Exception {
        Path program = Dist.compile(directory, "attached", flags);
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).start();
        BufferedReader output = process.inputReader();
        assertThat(output.readLine()).isEqualTo("ready");
        return new Attached(process, process.outputWriter(), output, directory.resolve("session"));
    }

    private Dist.Outcome attach(Attached target, String... options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(Dist.mdl(), "attach"));
        command.addAll(List.of(options));
        command.addAll(List.of("-o", target.session.toString(), Long.toString(target.process.pid())));
        Dist.Outcome outcome = Dist.run(directory, Map.of(), command);
        assumeTrue(!outcome.err().contains("ptrace is not permitted"), outcome.err());
        return outcome;
    }

    @ParameterizedTest
    @ValueSource(strings = {"-fpatchable-function-entry=5", "-O2"})
    void shouldCountEveryCallFromTheAnswerOn(String flags) throws Exception {
        try (Attached target = start(flags)) {
            assertThat(target.ask("w " + CALLS)).isEqualTo(Integer.toString(CALLS * THREADS));

            Dist.Outcome outcome = attach(target, "--exact");

            assertThat(outcome.status()).as(outcome.err()).isZero();
            assertThat(outcome.text()).contains("functions have probes");
            assertThat(target.ask("w " + CALLS)).isEqualTo(Integer.toString(CALLS * THREADS));
            assertThat(target.end()).isEqualTo(ENDED);
            Map<String, Long> calls = Dist.calls(Dist.report(directory, target.session));
            assertThat(calls).containsEntry("work", (long) CALLS * THREADS).containsEntry("work_often", (long) THREADS);
        }
    }

    /// The handler is the program's though the JVM raises the signal on purpose.
    @Test
    void shouldLeaveTheProgramItsHandlers() throws Exception {
        try (Attached target = start("-O2")) {
            assertThat(target.ask("s")).isEqualTo("caught");
            assertThat(attach(target).status()).isZero();
            assertThat(target.ask("s")).isEqualTo("caught");
            assertThat(target.ask("s")).isEqualTo("caught");
            assertThat(target.end()).isEqualTo(ENDED);
        }
    }

    @Test
    void shouldKeepTheMasksOfThreadsThatBlockAllSignals() throws Exception {
        try (Attached target = start("-O2", "blocked")) {
            assertThat(attach(target).status()).isZero();
            for (int i = 0; i < 100; i++) {
                assertThat(target.ask("w " + CALLS)).isEqualTo(Integer.toString(CALLS * THREADS));
            }
            assertThat(target.end()).isEqualTo(ENDED);
        }
    }

    @Test
    void shouldRefuseAProcessThatHasTheAgent() throws Exception {
        try (Attached target = start("-O2")) {
            assertThat(attach(target).status()).isZero();
            Dist.Outcome again =
                    Dist.run(directory, Map.of(), List.of(Dist.mdl(), "attach", Long.toString(target.process.pid())));
            assertThat(again.status()).isEqualTo(1);
            assertThat(again.err()).contains("has the agent already");
            assertThat(target.end()).isEqualTo(ENDED);
        }
    }

    @Test
    void shouldRefuseAStoppedProcess() throws Exception {
        try (Attached target = start("-O2")) {
            String pid = Long.toString(target.process.pid());
            assertThat(new ProcessBuilder("kill", "-STOP", pid).start().waitFor())
                    .isZero();
            Dist.await(
                    "the stop",
                    () -> Files.readString(Path.of("/proc", pid, "status")).contains("State:\tT"));
            assertThat(attach(target).err()).contains("is stopped").contains("kill -CONT");
            Dist.Outcome doctor = Dist.run(directory, Map.of(), List.of(Dist.mdl(), "doctor", pid));
            assertThat(doctor.text())
                    .contains("STOP  attach         process " + pid + " (attached) is stopped: kill -CONT " + pid)
                    .contains("ok    probes ");
            assertThat(doctor.status()).isEqualTo(1);
        }
    }

    @Test
    void shouldAttachForACommandThatIsAskedTo() throws Exception {
        try (Attached target = start("-O2")) {
            String pid = Long.toString(target.process.pid());
            Dist.Outcome doctor = run("doctor", pid);
            assumeTrue(!doctor.text().contains("ptrace_scope"), doctor.text());
            assertThat(doctor.text()).contains("ok    attach         nothing prevents it: mdl attach " + pid);
            assertThat(run("enable", pid, "-e", "counter at entry of work").err())
                    .contains("mdl top --attach " + pid);

            Dist.Outcome enabled = run("enable", "--attach", pid, "-e", "counter at entry of work");

            assertThat(enabled.status()).as(enabled.err()).isZero();
            assertThat(enabled.err()).contains("functions have probes");
            assertThat(run("enable", "--attach", pid, "-e", "n = counter at entry of work_often")
                            .err())
                    .isEmpty();
            assertThat(run("doctor", pid).text()).contains("has the agent: mdl top " + pid);
            assertThat(target.end()).isEqualTo(ENDED);
        }
    }

    /// As in a container.
    @Test
    void shouldAttachUnderAFilterThatDeniesSystemCalls() throws Exception {
        assumeRoot();
        try (Attached target = start("-O2", "denying")) {
            Dist.Outcome outcome = attach(target, "--exact");

            assertThat(outcome.status()).as(outcome.err()).isZero();
            assertThat(target.ask("w " + CALLS)).isEqualTo(Integer.toString(CALLS * THREADS));
            assertThat(target.end()).isEqualTo(ENDED);
            assertThat(Dist.calls(Dist.report(directory, target.session)))
                    .containsEntry("work", (long) CALLS * THREADS);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ending", "ending-thread"})
    void shouldRefuseAFilterThatWouldEndTheProcess(String kind) throws Exception {
        assumeRoot();
        try (Attached target = start("-O2", kind)) {
            Dist.Outcome outcome = attach(target, "--exact");

            assertThat(outcome.status()).isEqualTo(1);
            assertThat(outcome.err()).contains("was left as it is").contains("seccomp filter may end it");
            assertThat(target.ask("w " + CALLS)).isEqualTo(Integer.toString(CALLS * THREADS));
            assertThat(target.end()).isEqualTo(ENDED);
        }
    }

    /// A process with file system and process ids of its own, in which nothing of this installation is visible.
    @Test
    void shouldAttachInAContainer() throws Exception {
        assumeRoot();
        Path root = Files.createDirectory(directory.resolve("root"));
        Files.copy(Dist.compile(directory, "attached", "-O2"), root.resolve("attached"));
        String setUp = """
                set -e; cd "$1"; mkdir usr proc tmp
                mount --bind /usr usr; mount -t proc proc proc
                ln -s usr/lib lib; ln -s usr/lib64 lib64
                exec chroot . /attached
                """;
        Process container = new ProcessBuilder(
                        "unshare", "--mount", "--pid", "--fork", "sh", "-c", setUp, "sh", root.toString())
                .start();
        try {
            BufferedReader output = container.inputReader();
            assumeTrue("ready".equals(output.readLine()), "no namespaces can be made here");
            long pid = container.children().findFirst().orElseThrow().pid();
            Attached target = new Attached(container, container.outputWriter(), output, directory.resolve("session"));

            Dist.Outcome outcome = Dist.run(
                    directory,
                    Map.of(),
                    List.of(Dist.mdl(), "attach", "--exact", "-o", target.session.toString(), Long.toString(pid)));

            assertThat(outcome.status()).as(outcome.err()).isZero();
            assertThat(target.ask("w " + CALLS)).isEqualTo(Integer.toString(CALLS * THREADS));
            assertThat(run("list", "sessions").text()).contains(Long.toString(pid));
            assertThat(run("detach", target.session.toString()).err()).isEmpty();
            assertThat(target.end()).isEqualTo(ENDED);
            assertThat(Dist.calls(Dist.report(directory, target.session)))
                    .containsEntry("work", (long) CALLS * THREADS);
            Dist.await("the mounts' end", () -> !Files.exists(root.resolve("tmp/.mdl-" + pid)));
        } finally {
            container.descendants().forEach(ProcessHandle::destroyForcibly);
            container.destroyForcibly();
        }
    }

    private static void assumeRoot() {
        assumeTrue("root".equals(System.getProperty("user.name")), "needs the rights of root");
    }

    private Dist.Outcome run(String... words) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(Dist.mdl()));
        command.addAll(List.of(words));
        return Dist.run(directory, Map.of("XDG_STATE_HOME", directory.toString()), command);
    }
}
