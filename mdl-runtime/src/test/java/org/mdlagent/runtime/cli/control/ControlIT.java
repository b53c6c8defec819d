package org.mdlagent.runtime.cli.control;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// A running program is asked, and watched.
class ControlIT {
    private static final int CASES = Integer.getInteger("mdl.fuzz.cases", 5_000);
    private static final Pattern SWITCH = Pattern.compile("(?Us)probes [\\s\\x1C-\\x1F]*(on|off) .*");
    private static final int CALLS_BETWEEN = 10_000;

    @TempDir
    Path directory;

    private Process process;
    private Path done;
    private Path session;

    private void start(String options) throws Exception {
        done = directory.resolve("done");
        startProgram("killed", options, done.toString());
    }

    private void startProgram(String name, String options, String argument) throws Exception {
        Path program = Dist.compile(directory, name, "-finstrument-functions");
        session = directory.resolve("session");
        process = Dist.start(List.of(program.toString(), argument), options + ",wait,session=" + session);
        assertThat(process.inputReader().readLine()).isEqualTo("ready");
    }

    @AfterEach
    void end() throws Exception {
        process.destroyForcibly().waitFor();
    }

    /// With the end of its input.
    private int exit() throws Exception {
        process.outputWriter().close();
        return process.waitFor();
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
    @ValueSource(strings = {"exact", "budgetPercent=1"})
    void shouldRecordNothingWhileProbesAreOff(String options) throws Exception {
        start(options);

        assertThat(ask("probes off work")).isEqualTo("ok\n1 function off\n");
        // What was in a ring then has been drained.
        Dist.awaitLook(session);
        long off = calls();
        awaitCalls();
        Dist.awaitLook(session);
        assertThat(calls()).isEqualTo(off);

        assertThat(ask("probes on #0")).isEqualTo("ok\n1 function on\n");
        Dist.await("calls that are recorded", () -> calls() > off);
    }

    /// Waits until the program has made some.
    private void awaitCalls() throws Exception {
        long before = returned();
        Dist.await("calls", () -> returned() > before + CALLS_BETWEEN);
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

    /// What is answered with `ok` has been a request, and what follows says so again.
    @Test
    void shouldAnswerWhateverRequestsBecomeAndGoOn() throws Exception {
        start("exact");
        String[] seeds = {
            "probes on work",
            "probes off *",
            "probes off #0",
            "probes on #1",
            "probes on killed!w?rk",
            "probes off killed.c:w*"
        };
        long connections = connections();
        SplittableRandom random = new SplittableRandom(11);
        int executed = 0;
        for (int i = 0; i < CASES; i++) {
            byte[] request = mutated(seeds[random.nextInt(seeds.length)].getBytes(StandardCharsets.UTF_8), random);
            String answer = Dist.ask(session, request);
            if (answer.startsWith("ok\n")) {
                Matcher wanted = SWITCH.matcher(text(request));
                assertThat(wanted.matches())
                        .as("%s to %s", answer, text(request))
                        .isTrue();
                assertThat(answer).isEqualTo("ok\n1 function " + wanted.group(1) + "\n");
                executed++;
            } else {
                assertThat(answer).as(text(request)).matches("(error |\\{\"error\": )\\P{Cntrl}+\n");
            }
        }

        assertThat(executed).isBetween(CASES / 50, CASES / 2);
        Dist.await("no more connections than before", () -> connections() <= connections);
        assertThat(ask("probes off work")).isEqualTo("ok\n1 function off\n");
        long off = calls();
        assertThat(ask("probes on work")).isEqualTo("ok\n1 function on\n");
        Dist.await("calls that are recorded", () -> calls() > off);
        System.out.printf("%,d requests answered, %,d of them executed%n", CASES, executed);
    }

    private JsonNode askJson(byte[] request) throws Exception {
        String answer = Dist.ask(session, request);
        assertThat(answer).as(text(request)).endsWith("}\n");
        return new ObjectMapper().readTree(answer);
    }

    private JsonNode askJson(String request) throws Exception {
        return askJson(request.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void shouldAnswerRequestsInJson() throws Exception {
        start("exact");

        assertThat(askJson("{\"id\": 1, \"do\": \"functions\"}"))
                .hasToString("""
                {"id":1,"ok":[{"number":0,"name":"work","image":"%s","on":true}]}\
                """.formatted(directory.resolve("killed")));
        assertThat(askJson("{\"do\": \"disable\", \"functions\": \"w*\"}")).hasToString("{\"ok\":{\"functions\":1}}");
        assertThat(askJson("{\"do\": \"functions\"}").at("/ok/0/on").asBoolean())
                .isFalse();
        Dist.awaitLook(session);
        long off = calls();
        assertThat(askJson("{\"do\": \"enable\", \"functions\": \"#0\"}").has("ok"))
                .isTrue();
        Dist.await("calls that are recorded", () -> calls() > off);
        assertThat(askJson("{\"do\": \"functions\", \"from\": 1}")).hasToString("{\"ok\":[]}");

        JsonNode enabled =
                askJson("{\"do\": \"enable\", \"metric\": \"procedure_calls@/Code/killed.c/work\", \"force\": true}");
        assertThat(enabled.at("/ok/points").asInt()).isOne();
        Dist.await(
                "calls that the metric counts",
                () -> Dist.metrics(directory, session).values().stream().anyMatch(value -> value > 0));
        assertThat(askJson("{\"do\": \"disable\", \"metric\": \"*\"}")
                        .at("/ok/metrics")
                        .asInt())
                .isOne();

        assertThat(askJson("{\"do\": \"detach\"}")).hasToString("{\"ok\":{}}");
        JsonNode refused = askJson("{\"do\": \"enable\", \"functions\": \"work\"}");
        assertThat(refused.get("error").asText()).contains("the agent is detached from this process");
        assertThat(askJson("{\"do\": \"attach\"}")).hasToString("{\"ok\":{}}");
    }

    /// Whatever the bytes behind the brace are: also what is not UTF-8, too long or nested.
    @Test
    void shouldAnswerAnyBytesInJson() throws Exception {
        start("exact");
        String[] seeds = {
            "{\"id\": 7, \"do\": \"disable\", \"functions\": \"work\"}",
            "{\"do\": \"enable\", \"functions\": \"#0\"}",
            "{\"do\": \"functions\", \"from\": 0}",
            "{\"do\": {\"a\": [1]}}"
        };
        SplittableRandom random = new SplittableRandom(3);
        int executed = 0;
        for (int i = 0; i < CASES; i++) {
            byte[] request = mutated(seeds[random.nextInt(seeds.length)].getBytes(StandardCharsets.UTF_8), random);
            request[0] = '{';
            JsonNode answer = askJson(request);
            assertThat(answer.has("ok")).as(text(request)).isNotEqualTo(answer.has("error"));
            executed += answer.has("ok") ? 1 : 0;
        }

        assertThat(executed).isBetween(CASES / 200, CASES / 2);
        assertThat(askJson("{\"a\":".repeat(600)).get("error").asText()).contains("a value nests");
        assertThat(askJson("{\"do\": \"enable\", \"functions\": \"work\"}").has("ok"))
                .isTrue();
        long before = calls();
        Dist.await("calls that are recorded", () -> calls() > before);
    }

    private static byte[] mutated(byte[] seed, SplittableRandom random) {
        byte[] bytes = seed;
        for (int changes = random.nextInt(1, 4); changes > 0; changes--) {
            int at = random.nextInt(bytes.length);
            int to = random.nextInt(at, bytes.length + 1);
            byte[] other = {(byte) (random.nextInt(1, 256) + '\n')}; // but not the end of the line
            bytes = switch (random.nextInt(4)) {
                case 0 -> joined(bytes, at, other, at + 1);
                case 1 -> joined(bytes, at, other, at);
                case 2 -> joined(bytes, to, new byte[0], at); // twice what lies between
                default -> joined(bytes, at, new byte[0], to);
            };
            if (bytes.length == 0) {
                return seed;
            }
        }
        return bytes;
    }

    /// The bytes before `end`, others, and the bytes from `start` on.
    private static byte[] joined(byte[] bytes, int end, byte[] others, int start) {
        return ByteBuffer.allocate(end + others.length + bytes.length - start)
                .put(bytes, 0, end)
                .put(others)
                .put(bytes, start, bytes.length - start)
                .array();
    }

    private static String text(byte[] request) {
        return new String(request, StandardCharsets.UTF_8).strip();
    }

    /// Open ones, of the thread that has the most: the agent's have a table of their own.
    private long connections() throws IOException {
        long most = 0;
        try (Stream<Path> tables = Files.find(
                Path.of("/proc", Long.toString(process.pid()), "task"), 2, (path, attributes) -> path.endsWith("fd"))) {
            for (Path table : tables.toList()) {
                most = Math.max(most, sockets(table));
            }
        }
        return most;
    }

    private static long sockets(Path table) throws IOException {
        long sockets = 0;
        try (DirectoryStream<Path> open = Files.newDirectoryStream(table)) {
            for (Path descriptor : open) {
                try {
                    if (Files.readSymbolicLink(descriptor).toString().startsWith("socket:")) {
                        sockets++;
                    }
                } catch (NoSuchFileException closed) {
                    // It was open for a moment.
                }
            }
        }
        return sockets;
    }

    @Test
    void shouldRemoveItsSocketWhenTheProgramEnds() throws Exception {
        startProgram("leaves", "exact", "exits");
        assertThat(session.resolve("control")).exists();

        assertThat(exit()).isZero();

        assertThat(session.resolve("control")).doesNotExist();
    }

    @Test
    void shouldRemoveItsSocketAndItsThreadsWhenTheProgramMustBeAlone() throws Exception {
        startProgram("leaves", "exact", "alone");
        assertThat(session.resolve("control")).exists();

        process.outputWriter().append('\n').flush();

        assertThat(process.inputReader().readLine()).isEqualTo("alone");
        assertThat(session.resolve("control")).doesNotExist();
        try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(process.pid()), "task"))) {
            assertThat(threads).hasSize(1);
        }
        assertThat(exit()).isZero();
    }

    /// Afterwards it could not: the program does not make that system call.
    @Test
    void shouldTakeItsSocketAwayBeforeTheProgramFiltersSystemCalls() throws Exception {
        startProgram("leaves", "exact", "filtered");

        assertThat(exit()).isZero();

        assertThat(session.resolve("control")).doesNotExist();
    }

    @Test
    void shouldShowLooksAsPlainTextOverAPipe() throws Exception {
        start("exact");

        Dist.Outcome top = Dist.run(
                directory, Map.of(), List.of(Dist.mdl(), "top", "--count=2", "--interval=0.2", session.toString()));

        assertThat(top.status()).isZero();
        assertThat(top.text()).doesNotContain("\u001b");
        assertThat(top.text().lines().filter(line -> line.matches(" +work .*"))).hasSize(2);
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
        Dist.await("the program's functions", () -> shows(typescript, "▶ work"));
        top.getOutputStream().write(' ');
        top.getOutputStream().flush();
        Dist.await("what the key has done", () -> shows(typescript, "off from now on: work"));

        process.destroyForcibly().waitFor();

        assertThat(top.waitFor(Dist.PATIENCE)).isTrue();
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
