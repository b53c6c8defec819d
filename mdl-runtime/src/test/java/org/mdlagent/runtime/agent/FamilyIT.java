package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.profiler.report.profile.Loss;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.Dist;

/// Forked processes are profiled by the agent of the one that forked them, each by itself, and go on without
/// probes when it ends.
class FamilyIT {
    private static final int WORKERS = 4;
    private static final int CALLS_PER_STEP = 1000;
    private static final int SLICES = 5;

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"exit", "killed"})
    void shouldCountEveryCallOfEachWorker(String end) throws Exception {
        Path program = Dist.compile(directory, "prefork", "-finstrument-functions");
        Path session = directory.resolve("session");

        Dist.Outcome run =
                Dist.run(directory, Map.of(), ExactCountsIT.exactly(session, List.of(program.toString(), end)));

        assertThat(run.status()).isZero();
        assertThat(run.err()).isEmpty();
        Map<Integer, Map<String, Long>> expected = callsByProcess(run.text());
        assertThat(expected).hasSize(1 + WORKERS);
        JsonNode report = Dist.report(directory, session);
        assertThat(Dist.calls(report)).containsExactlyInAnyOrderEntriesOf(sum(expected));
        int master = report.at("/session/pid").asInt();
        Map<Integer, JsonNode> processes = processes(report);
        assertThat(processes.keySet()).isEqualTo(expected.keySet()).contains(master);
        expected.forEach((pid, calls) -> {
            JsonNode process = processes.get(pid);
            assertThat(process.get("calls").asLong())
                    .isEqualTo(
                            calls.values().stream().mapToLong(Long::longValue).sum());
            assertThat(process.get("runs").asBoolean()).isFalse();
            assertThat(process.get("agent").asBoolean()).isEqualTo(pid == master);
            if (pid != master) {
                assertThat(process.get("parent").asInt()).isEqualTo(master);
                assertThat(process.has("exit")).isEqualTo(end.equals("exit"));
                assertThat(process.at("/exit/status").asLong(-1))
                        .isEqualTo(end.equals("exit") ? calls.get("work") / CALLS_PER_STEP : -1);
            }
        });
        for (Map.Entry<Integer, Map<String, Long>> entry : expected.entrySet()) {
            assertThat(Dist.calls(reportOf(session, entry.getKey())))
                    .containsExactlyInAnyOrderEntriesOf(called(entry.getValue()));
        }
        int worker = expected.keySet().stream()
                .filter(pid -> pid != master)
                .findFirst()
                .orElseThrow();
        assertThat(Dist.calls(Dist.report(directory, Integer.toString(worker))))
                .as("the session, by a worker's id")
                .isEqualTo(Dist.calls(report));
        Dist.Outcome ofNone = Dist.reportOfProcess(directory, session, 1);
        assertThat(ofNone.status()).isEqualTo(1);
        assertThat(ofNone.err()).contains("the session has no such process");
    }

    /// Its probes stay, and take no system calls. Its second thread has met none before: that is said.
    @Test
    void shouldCountTheCallsOfAWorkerThatHasFilteredItsSystemCalls() throws Exception {
        Path program = Dist.compile(directory, "filtered_worker", "-finstrument-functions", "-pthread");
        Path session = directory.resolve("session");

        Dist.Outcome run = Dist.run(directory, Map.of(), ExactCountsIT.exactly(session, List.of(program.toString())));

        assertThat(run.status()).as("it is not killed").isEqualTo(3);
        assertThat(Dist.calls(Dist.report(directory, session))).isEqualTo(Map.of("main", 1L, "work", 1000L));
        try (SessionReader reader = SessionReader.open(session)) {
            assertThat(reader.profile().losses()).containsExactly(new Loss(Loss.Reason.THREADS, 1));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"agent.aot", "mdl-text"})
    void shouldGiveChildrenTheCodeButNothingThatTheJvmMaps(String file) throws Exception {
        Path program = Dist.compile(directory, "mapped_in_children", "-fpatchable-function-entry=5");

        Dist.Outcome run = Dist.run(
                directory,
                Map.of(),
                ExactCountsIT.exactly(directory.resolve("session"), List.of(program.toString(), file)));

        assertThat(run.status()).isZero();
        int[] mappings = run.text().lines().mapToInt(Integer::parseInt).toArray();
        assertThat(mappings).hasSize(2);
        assertThat(mappings[0]).isPositive();
        assertThat(mappings[1]).isEqualTo(file.equals("mdl-text") ? mappings[0] : 0);
    }

    @Test
    void shouldStartAnewInWorkersThatExecuteAProgram() throws Exception {
        Path program = Dist.compile(directory, "prefork", "-finstrument-functions");
        Path session = directory.resolve("session");

        Dist.Outcome run =
                Dist.run(directory, Map.of(), ExactCountsIT.exactly(session, List.of(program.toString(), "exec")));

        assertThat(run.status()).isZero();
        JsonNode report = Dist.report(directory, session);
        int master = report.at("/session/pid").asInt();
        Map<Integer, JsonNode> processes = processes(report);
        assertThat(processes).hasSize(1 + WORKERS);
        long serving = 0;
        for (JsonNode process : processes.values()) {
            int pid = process.get("pid").asInt();
            assertThat(process.get("runs").asBoolean()).isFalse();
            if (pid != master) {
                assertThat(process.has("exit")).isFalse();
                serving += process.get("calls").asLong() - 1;
                Path own = onlyOne(session, "prefork-" + pid + "-");
                assertThat(Dist.calls(Dist.report(directory, own))).isEqualTo(Map.of("work", 1L, "leaf", 2L));
            }
        }
        assertThat(serving).isEqualTo(3000L * (1 + 2 + 3 + 4));
    }

    @Test
    void shouldCountEveryCallOfAThousandProcesses() throws Exception {
        fork(1000);
    }

    @Tag("soak")
    @Test
    void shouldCountEveryCallOfTenThousandProcessesInBoundedMemory() throws Exception {
        fork(10_000);
    }

    private void fork(int forks) throws Exception {
        Path program = Dist.compile(directory, "forks", "-finstrument-functions");
        Path session = directory.resolve("session");

        Dist.Outcome run = Dist.run(
                directory,
                Map.of(),
                ExactCountsIT.exactly(session, List.of(program.toString(), Integer.toString(forks))));

        assertThat(run.status()).isZero();
        long calls = Long.parseLong(run.text().strip());
        JsonNode report = Dist.report(directory, session);
        assertThat(Dist.calls(report)).isEqualTo(Map.of("work", calls));
        long listed = 0;
        for (JsonNode process : report.get("processes")) {
            listed += process.get("calls").asLong();
        }
        assertThat(report.get("processes").size()
                        + report.at("/processesForgotten/count").asLong())
                .isEqualTo(1 + forks);
        assertThat(listed + report.at("/processesForgotten/calls").asLong()).isEqualTo(calls);
        assertThat(report.get("dropped").asLong()).isZero();
        try (SessionReader reader = SessionReader.open(session)) {
            assertThat(reader.facts().process().threads()).isLessThan(100);
        }
    }

    @Test
    void shouldToggleInAllProcesses() throws Exception {
        Path program = Dist.compile(directory, "prefork", "-finstrument-functions");
        Path session = directory.resolve("session");
        Process process = Dist.start(List.of(program.toString(), "input"), "wait,session=" + session);
        try {
            Dist.await("the workers", () -> seenByWorkers(session).size() == WORKERS);
            for (int slice = 0; slice < SLICES; slice++) {
                long toggles = toggles(session);
                Map<Integer, Long> before = seenByWorkers(session);
                Dist.await("a slice in each worker", () -> {
                    Map<Integer, Long> now = seenByWorkers(session);
                    return toggles(session) > toggles
                            && before.keySet().stream().allMatch(pid -> now.get(pid) > before.get(pid));
                });
            }
        } finally {
            process.outputWriter().close();
        }
        Map<Integer, Map<String, Long>> expected =
                callsByProcess(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
        assertThat(process.waitFor()).isZero();
        seenByWorkers(session).forEach((pid, seen) -> {
            long all = expected.get(pid).values().stream()
                    .mapToLong(Long::longValue)
                    .sum();
            assertThat(seen).as("calls that a worker made while probes were on").isLessThan(all);
        });
        Dist.Outcome ofOne = Dist.reportOfProcess(
                directory, session, expected.keySet().iterator().next());
        assertThat(ofOne.status()).isEqualTo(2);
        assertThat(ofOne.err()).contains("a sampled session does not tell processes apart");
    }

    @Test
    void shouldSwitchOffInChildrenWhenTheProcessWithTheAgentExits() throws Exception {
        try (Family family = new Family("exact")) {
            family.step();
            long child = family.child();

            assertThat(family.end("TERM")).isZero();
            family.step();
            family.step();

            JsonNode report = Dist.report(directory, family.session());
            assertThat(Dist.calls(report)).containsOnly(Map.entry("work", (long) CALLS_PER_STEP));
            JsonNode process = processes(report).get((int) child);
            assertThat(process.get("runs").asBoolean()).isTrue();
            assertThat(process.get("calls").asLong()).isEqualTo(CALLS_PER_STEP);
            assertThat(report.at("/session/exit/status").asInt(-1)).isZero();
            assertThat(family.report())
                    .contains("the process that had the agent has ended; 1 process goes on without probes");
            family.finish();
            Dist.await(
                    "the child's end",
                    () -> !processes(Dist.report(directory, family.session()))
                            .get((int) child)
                            .get("runs")
                            .asBoolean());
        }
    }

    @Test
    void shouldGoOnCountingExactlyWhenTheProcessWithTheAgentIsKilled() throws Exception {
        try (Family family = new Family("exact")) {
            family.step();

            assertThat(family.end("KILL")).isEqualTo(128 + 9);
            family.step();
            family.step();

            JsonNode report = Dist.report(directory, family.session());
            assertThat(Dist.calls(report)).containsOnly(Map.entry("work", 3L * CALLS_PER_STEP));
            processes(report)
                    .values()
                    .forEach(process -> assertThat(process.get("runs").asBoolean())
                            .isNotEqualTo(process.get("agent").asBoolean()));
        }
    }

    @Test
    void shouldEndSlicesByThemselvesWhenTheProcessWithTheAgentIsKilled() throws Exception {
        try (Family family = new Family("sliced=*")) {
            family.step();
            assertThat(callsSeen(family)).isBetween(1L, (long) CALLS_PER_STEP);
            assertThat(family.end("KILL")).isEqualTo(128 + 9);

            Dist.await("the end of the slices", () -> {
                long before = callsSeen(family);
                family.step();
                return callsSeen(family) == before;
            });
            long seen = callsSeen(family);
            family.step();
            assertThat(callsSeen(family)).isEqualTo(seen);
        }
    }

    @Test
    void shouldLeaveTheAgentToTheDaemonThatItsParentForked() throws Exception {
        Path program = Dist.compile(directory, "daemon", "-finstrument-functions");
        Path running = Files.createFile(directory.resolve("running"));

        Dist.Outcome parent = Dist.run(
                directory, Dist.preload("exact,startDelayMillis=20"), List.of(program.toString(), running.toString()));

        assertThat(parent.status()).isZero();
        Path sessions = directory.resolve("state/mdl/sessions");
        Dist.await(
                "calls of the daemon",
                () -> onlyOne(sessions, "daemon-") instanceof Path session
                        && Dist.reportOrNull(directory, session) instanceof JsonNode report
                        && Dist.calls(report).containsKey("work"));
        Path session = Objects.requireNonNull(onlyOne(sessions, "daemon-"));
        Files.delete(running);
        Dist.await(
                "its end",
                () -> Dist.report(directory, session).at("/session/exit/status").asInt(-1) == 5);
    }

    @Test
    void shouldSwitchOffWithoutJavaWhenTheAgentsThreadIsStuck() throws Exception {
        Path stopper = Dist.compile(directory, "stop_thread");
        try (Family family = new Family("sliced=*")) {
            family.step();
            Process stopping = new ProcessBuilder(stopper.toString(), Long.toString(family.pid()), "1").start();
            assertThat(stopping.inputReader().readLine()).isEqualTo("stopped");

            Dist.await("the watchdog", () -> family.log().contains("the JVM is stuck or gone"));
            long seen = callsSeen(family);
            family.step();
            assertThat(callsSeen(family)).isEqualTo(seen);

            stopping.outputWriter().close();
            assertThat(stopping.inputReader().readLine()).isEqualTo("released");
            assertThat(stopping.waitFor()).isZero();
            // It is awake when the clocks go on, and would have armed many times by the second change.
            for (int i = 0; i < 2; i++) {
                double before = agentPercentOf(family);
                Dist.await("its clock", () -> agentPercentOf(family) != before);
            }
            family.step();
            assertThat(callsSeen(family)).isEqualTo(seen);
            assertThat(family.report()).contains("the agent failed in this run");
            family.finish();
            assertThat(family.waitFor()).isZero();
        }
    }

    private static long toggles(Path session) throws IOException {
        try (SessionReader reader = SessionReader.open(session)) {
            return reader.facts().costs().toggles();
        }
    }

    /// The calls that were recorded in each forked process.
    private Map<Integer, Long> seenByWorkers(Path session) throws Exception {
        Map<Integer, Long> seen = new TreeMap<>();
        JsonNode report = Dist.reportOrNull(directory, session);
        if (report != null) {
            for (JsonNode process : report.get("processes")) {
                if (!process.get("agent").asBoolean()) {
                    seen.put(
                            process.get("pid").asInt(), process.get("callsSeen").asLong());
                }
            }
        }
        return seen;
    }

    private double agentPercentOf(Family family) throws Exception {
        return Dist.report(directory, family.session())
                .at("/overhead/agentPercent")
                .asDouble();
    }

    private long callsSeen(Family family) throws Exception {
        long calls = 0;
        for (JsonNode process : Dist.report(directory, family.session()).get("processes")) {
            calls += process.get("callsSeen").asLong();
        }
        return calls;
    }

    /// The session whose name begins so, null while there is none.
    private static Path onlyOne(Path sessions, String prefix) throws IOException {
        try (var all = Files.newDirectoryStream(sessions, prefix + "*")) {
            Path found = null;
            for (Path session : all) {
                assertThat(found).isNull();
                found = session;
            }
            return found;
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    private JsonNode reportOf(Path session, int pid) throws Exception {
        Dist.Outcome report = Dist.reportOfProcess(directory, session, pid);
        assertThat(report.err()).isEmpty();
        return new ObjectMapper().readTree(report.out());
    }

    private static Map<Integer, JsonNode> processes(JsonNode report) {
        Map<Integer, JsonNode> processes = new TreeMap<>();
        for (JsonNode process : report.get("processes")) {
            processes.put(process.get("pid").asInt(), process);
        }
        return processes;
    }

    /// Lines "pid function calls".
    private static Map<Integer, Map<String, Long>> callsByProcess(String text) {
        Map<Integer, Map<String, Long>> calls = new TreeMap<>();
        for (String line : text.split("\n")) {
            String[] fields = line.split(" ");
            calls.computeIfAbsent(Integer.valueOf(fields[0]), pid -> new HashMap<>())
                    .put(fields[1], Long.valueOf(fields[2]));
        }
        return calls;
    }

    private static Map<String, Long> sum(Map<Integer, Map<String, Long>> byProcess) {
        Map<String, Long> sum = new TreeMap<>();
        byProcess.values().forEach(calls -> calls.forEach((name, count) -> sum.merge(name, count, Long::sum)));
        return called(sum);
    }

    private static Map<String, Long> called(Map<String, Long> calls) {
        Map<String, Long> called = new TreeMap<>(calls);
        called.values().removeIf(count -> count == 0);
        return called;
    }

    /// The program `family`, whose child is stepped through a pipe that has a name: those of Java close when the
    /// first process ends.
    private final class Family implements AutoCloseable {
        private final Path session = directory.resolve("session");
        private final Path output = directory.resolve("output");
        private final RandomAccessFile input;
        private final Process process;
        private int steps;

        Family(String options) throws Exception {
            Path program = Dist.compile(directory, "family", "-finstrument-functions");
            Path pipe = directory.resolve("pipe");
            assertThat(Dist.run(directory, Map.of(), List.of("mkfifo", pipe.toString()))
                            .status())
                    .isZero();
            input = new RandomAccessFile(pipe.toFile(), "rw");
            ProcessBuilder builder = new ProcessBuilder(program.toString())
                    .redirectInput(pipe.toFile())
                    .redirectOutput(output.toFile());
            builder.environment().putAll(Dist.preload("wait,session=" + session + "," + options));
            process = builder.start();
        }

        Path session() {
            return session;
        }

        long pid() {
            return process.pid();
        }

        private List<String> lines() throws IOException {
            return new ArrayList<>(List.of(Files.readString(output).split("\n")));
        }

        long child() throws Exception {
            Dist.await("the child", () -> Files.readString(output).contains("\n"));
            return Long.parseLong(lines().getFirst().substring("child ".length()));
        }

        /// Lets the child work, and returns when it has.
        void step() throws Exception {
            input.write('x');
            steps++;
            Dist.await("step " + steps, () -> lines().size() > steps);
        }

        /// For people.
        String report() throws Exception {
            return Dist.run(directory, Map.of(), List.of(Dist.mdl(), "report", session.toString()))
                    .text();
        }

        String log() throws IOException {
            return Files.readString(session.resolve("agent.log"));
        }

        int end(String signal) throws Exception {
            assertThat(new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid()))
                            .start()
                            .waitFor())
                    .isZero();
            return process.waitFor();
        }

        int waitFor() throws InterruptedException {
            return process.waitFor();
        }

        /// Ends the child's input.
        void finish() throws IOException {
            input.close();
        }

        @Override
        public void close() throws IOException {
            finish();
        }
    }
}
