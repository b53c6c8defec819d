package org.mdlagent.runtime.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.runtime.cli.Mdl;
import org.mdlagent.runtime.cli.terminal.Posix;

/// `mdl run` is what the program would be. In a process of its own, because it takes over signals; the library
/// that it preloads here does nothing but write how it was asked.
class RunCommandTest {
    private static final long LIMIT_SECONDS = 600;

    @TempDir
    private Path directory;

    @BeforeEach
    void createInstallation() throws Exception {
        Path library = Files.createDirectories(directory.resolve("dist/lib")).resolve("libmdlagent.so");
        Path source = Files.writeString(directory.resolve("lib.c"), "int mdl_test_library;");
        assertThat(new ProcessBuilder("gcc", "-shared", "-o", library.toString(), source.toString())
                        .inheritIO()
                        .start()
                        .waitFor())
                .isZero();
    }

    private ProcessBuilder mdl(String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
                "-Dmdl.home=" + directory.resolve("dist"),
                "-cp",
                System.getProperty("java.class.path"),
                Mdl.class.getName(),
                "run"));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("XDG_STATE_HOME", directory.resolve("state").toString());
        builder.environment().remove("MDL_OPTIONS");
        return builder;
    }

    private record Outcome(int status, String out, String err) {}

    private Outcome run(String... arguments) throws Exception {
        return run(mdl(arguments));
    }

    private Outcome run(ProcessBuilder builder) throws Exception {
        Path out = directory.resolve("out");
        Path err = directory.resolve("err");
        Process process =
                builder.redirectOutput(out.toFile()).redirectError(err.toFile()).start();
        assertThat(process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
        return new Outcome(
                process.exitValue(), Files.readString(out, StandardCharsets.ISO_8859_1), Files.readString(err));
    }

    @Test
    void shouldPassOnOutputAndStatus() throws Exception {
        Outcome outcome = run("--", "sh", "-c", "echo out; echo err >&2; exit 3");

        assertThat(outcome.status()).isEqualTo(3);
        assertThat(outcome.out()).isEqualTo("out\n");
        assertThat(outcome.err()).isEqualTo("""
            err
            mdl: there is no session: the program ended before the agent had started
            """);
    }

    @Test
    void shouldPassOnInput() throws Exception {
        Path in = Files.writeString(directory.resolve("in"), "some text");

        assertThat(run(mdl("cat").redirectInput(in.toFile())).out()).isEqualTo("some text");
    }

    @ParameterizedTest
    @CsvSource({"9, 137", "15, 143", "6, 134", "11, 139"})
    void shouldEndAsAShellWouldSayItWhenTheProgramIsKilled(int signal, int status) throws Exception {
        assertThat(run("sh", "-c", "ulimit -c 0; kill -" + signal + " $$").status())
                .isEqualTo(status);
    }

    @Test
    void shouldEndAsAShellWouldWhenThereIsNoSuchProgram() throws Exception {
        Outcome missing = run("--", "there-is-no-such-program");
        Path text = Files.writeString(directory.resolve("text"), "no program");
        Outcome text126 = run("--", text.toString());

        assertThat(missing.status()).isEqualTo(127);
        assertThat(missing.err()).contains("there-is-no-such-program cannot be started: No such file");
        assertThat(text126.status()).isEqualTo(126);
        assertThat(text126.err()).contains("Permission denied");
        assertThat(missing.out() + text126.out()).isEmpty();
        assertThat(run("--exact", "handle*", "./app").err())
                .contains("if that is a function: --exact='handle*', with an equals sign");
    }

    @Test
    void shouldLeaveTheProgramsOptionsToTheProgram() throws Exception {
        assertThat(run("echo", "--report", "-o", "x", "--", "@y", "\"z\"").out())
                .isEqualTo("--report -o x -- @y \"z\"\n");
    }

    @Test
    void shouldNotTakeTheProgramForTheFormatOfTheReport() throws Exception {
        Outcome outcome = run("--report", "echo", "hello");

        assertThat(outcome.out()).isEqualTo("hello\n");
        assertThat(outcome.err()).contains("there is no session: the program ended before the agent had started");
    }

    @Test
    void shouldPassArgumentsThatAreNoText() throws Exception {
        Path script = Files.write(
                directory.resolve("script"),
                "exec \"$@\" printf %s 'caf\u00e9'\n".getBytes(StandardCharsets.ISO_8859_1));
        List<String> command = new ArrayList<>(List.of("sh", script.toString()));
        command.addAll(mdl().command());
        ProcessBuilder builder = mdl().command(command);
        builder.environment().put("LC_ALL", "C");

        assertThat(run(builder).out()).isEqualTo("caf\u00e9");
    }

    @Test
    void shouldAskTheAgentForWhatIsGiven() throws Exception {
        ProcessBuilder builder = mdl(
                "--exact",
                "--wait",
                "--include",
                "f(int, int)",
                "-o",
                directory.resolve("x/../session").toString(),
                "sh",
                "-c",
                "echo $MDL_OPTIONS; echo $LD_PRELOAD");
        builder.environment().put("MDL_OPTIONS", "exact=off,countedMean=20");

        String[] lines = run(builder).out().split("\n", -1);

        assertThat(lines[0].split("(?<!\\\\),", -1))
                .containsExactlyInAnyOrder(
                        "exact=on",
                        "wait=on",
                        "include=f(int\\, int)",
                        "session=" + directory.resolve("session"),
                        "countedMean=20");
        assertThat(lines[1])
                .isEqualTo(directory.resolve("dist/lib/libmdlagent.so").toString());
        assertThat(directory.resolve("session")).isDirectory();
    }

    @ParameterizedTest
    @CsvSource({"'', budgetPercent=5", "--budget 2, budgetPercent=2"})
    void shouldSpendMoreForWhoWaitsAtATerminal(String option, String expected) throws Exception {
        List<String> command = new ArrayList<>(
                mdl(option.isEmpty() ? new String[0] : option.split(" ", -1)).command());
        command.addAll(List.of("sh", "-c", "'echo $MDL_OPTIONS'"));
        ProcessBuilder builder = mdl();
        builder.command("script", "-qefc", String.join(" ", command), "/dev/null");

        assertThat(run(builder).out()).containsPattern("(?m)^(.*,)?" + expected + "(,.*)?\\r?$");
    }

    @Test
    void shouldAskForExactFunctionsByWhatIsAttachedToTheOption() throws Exception {
        String attached =
                run("--exact=f", "--exact=g*", "sh", "-c", "echo $MDL_OPTIONS").out();
        String alone = run("--exact", "sh", "-c", "echo $MDL_OPTIONS").out();

        assertThat(attached).isEqualTo("exact=f,exact=g*,wait=on\n");
        assertThat(alone).isEqualTo("exact=on,wait=on\n");
    }

    @ParameterizedTest
    @CsvSource({
        "'', '', wait=on",
        "--no-wait, '', wait=off",
        "--start-delay 7, '', startDelayMillis=7",
        "'', wait=off, wait=off",
        "--wait, wait=off, wait=on",
        "'', startDelayMillis=7, startDelayMillis=7",
    })
    void shouldWaitUnlessSomebodyHasChosen(String option, String environment, String expected) throws Exception {
        List<String> command = new ArrayList<>(option.isEmpty() ? List.of() : List.of(option.split(" ", -1)));
        command.addAll(List.of("sh", "-c", "echo $MDL_OPTIONS"));
        ProcessBuilder builder = mdl(command.toArray(String[]::new));
        builder.environment().put("MDL_OPTIONS", environment);

        assertThat(run(builder).out()).isEqualTo(expected + "\n");
    }

    @Test
    void shouldKeepOtherPreloadedLibraries() throws Exception {
        ProcessBuilder builder = mdl("sh", "-c", "echo $LD_PRELOAD");
        builder.environment().put("LD_PRELOAD", "libm.so.6");

        assertThat(run(builder).out()).isEqualTo(directory.resolve("dist/lib/libmdlagent.so") + ":libm.so.6\n");
    }

    /// The loader takes a blank in `LD_PRELOAD` for the end of a name.
    @Test
    void shouldPreloadFromAnInstallationWithABlankInItsName() throws Exception {
        Path home = directory.resolve("with blank");
        Files.move(directory.resolve("dist"), home);
        List<String> command = new ArrayList<>(
                mdl("sh", "-c", "echo $LD_PRELOAD; grep -c 'with blank/lib/libmdlagent.so' /proc/self/maps")
                        .command());
        command.replaceAll(argument -> argument.startsWith("-Dmdl.home=") ? "-Dmdl.home=" + home : argument);

        String[] lines = run(mdl().command(command)).out().split("\n", -1);

        Path link = Path.of(lines[0]).getParent().getParent();
        try {
            assertThat(Integer.parseInt(lines[1])).isPositive();
            assertThat(link.getParent()).isEqualTo(Path.of("/tmp/mdl-" + Posix.effectiveUser()));
            assertThat(Files.readSymbolicLink(link)).isEqualTo(home);
        } finally {
            Files.deleteIfExists(link);
        }
    }

    @Test
    void shouldRecordIntoADirectoryWhoseNameEndsWithABlank() throws Exception {
        Path session = directory.resolve("a, b ");

        assertThat(run("-o", session.toString(), "sh", "-c", "printf %s \"$MDL_OPTIONS\"")
                        .out())
                .contains("session=" + directory.toString() + "/a\\, b /");
    }

    @Test
    void shouldLeaveDescriptorsMaskAndEnvironmentAsTheyWere() throws Exception {
        String look = "ls /proc/self/fd | grep -v '^[345]$'; grep -E '^Sig(Blk|Cgt)' /proc/self/status;"
                + " ls -l /proc/self/fd | grep -c in-of-the-caller; env | grep -c JAVA_SR";
        Path in = Files.writeString(directory.resolve("in-of-the-caller"), "x");
        String under = run(shell(in, mdl("sh", "-c", look).command())).out();
        String alone = run(shell(in, List.of("sh", "-c", look))).out();

        assertThat(under).isEqualTo(alone).contains("SigBlk:\t0000000000000000");
    }

    /// A command with descriptor 9 open.
    private ProcessBuilder shell(Path in, List<String> command) {
        List<String> all = new ArrayList<>(List.of("sh", "-c", "exec 9<" + in + "; exec \"$@\"", "sh"));
        all.addAll(command);
        ProcessBuilder builder = mdl();
        return builder.command(all);
    }

    @Test
    void shouldPassOnEachSignalOnce() throws Exception {
        Process mdl = mdl("python3", "-c", """
            import signal, sys, time
            def got(number, frame):
                print(number, flush=True)
                if number == signal.SIGTERM:
                    sys.exit(42)
            for number in (1, 2, 3, 10, 12, 15):
                signal.signal(number, got)
            print("ready", flush=True)
            while True:
                time.sleep(60)
            """).start();
        try (BufferedReader out = mdl.inputReader()) {
            assertThat(out.readLine()).isEqualTo("ready");
            for (int number : new int[] {1, 2, 3, 10, 12, 15}) {
                Posix.signal((int) mdl.pid(), number);
                assertThat(out.readLine()).isEqualTo(Integer.toString(number));
            }
            assertThat(mdl.waitFor()).isEqualTo(42);
            assertThat(out.readLine()).isNull();
        } finally {
            mdl.destroyForcibly();
        }
    }

    /// The terminal sends to the whole foreground group: the program must not get its signals from us once more.
    @Test
    void shouldLeaveSignalsOfTheTerminalToTheTerminal() throws Exception {
        String program = """
            import signal, time
            signal.signal(2, lambda number, frame: print("interrupted", flush=True))
            print("ready", flush=True)
            time.sleep(2)
            """;
        String terminal = """
            import os, pty, sys
            pid, terminal = pty.fork()
            if pid == 0:
                os.execv(sys.argv[2], sys.argv[2:] + ["--", "python3", "-c", sys.argv[1]])
            seen = b""
            while True:
                try:
                    seen += os.read(terminal, 1000)
                except OSError:
                    break
                if seen.endswith(b"ready\\r\\n"):
                    os.write(terminal, b"\\x03")
            print(seen.count(b"interrupted"), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            """;
        List<String> command = new ArrayList<>(List.of("python3", "-c", terminal, program));
        command.addAll(mdl().command());

        assertThat(run(mdl().command(command)).out()).isEqualTo("1 0\n");
    }

    @ParameterizedTest
    @CsvSource({"gcc,-static,is statically linked", "musl-gcc,-O1,is linked with musl"})
    void shouldRunWithoutTheAgentWhatCannotBearIt(String compiler, String flag, String reason) throws Exception {
        assumeTrue(ProgramFile.find(compiler, System.getenv("PATH")) != null, "there is no " + compiler);
        Path source = Files.writeString(
                directory.resolve("p.c"),
                "#include <stdlib.h>\nint main(void) { return getenv(\"LD_PRELOAD\") ? 1 : 7; }");
        Path program = directory.resolve("program");
        assertThat(new ProcessBuilder(compiler, flag, "-o", program.toString(), source.toString())
                        .start()
                        .waitFor())
                .isZero();

        Outcome outcome = run(program.toString());

        assertThat(outcome.status()).isEqualTo(7);
        assertThat(outcome.err()).contains(reason).contains("runs without the agent");
    }

    @Test
    void shouldWriteNothingBesideTheSession() throws Exception {
        run("true");

        try (Stream<Path> files = Files.list(directory.resolve("state"))) {
            assertThat(new TreeSet<>(
                            files.map(Path::getFileName).map(Path::toString).toList()))
                    .containsExactly("mdl");
        }
    }

    @Test
    void shouldRunAllTheSameWhenSessionsCannotBeWritten() throws Exception {
        ProcessBuilder builder = mdl("echo", "hello");
        builder.environment()
                .put(
                        "XDG_STATE_HOME",
                        Files.createFile(directory.resolve("file")).toString());

        Outcome outcome = run(builder);

        assertThat(outcome.status()).isZero();
        assertThat(outcome.out()).isEqualTo("hello\n");
        assertThat(outcome.err()).contains("sessions cannot be written to");
    }
}
