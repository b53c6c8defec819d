package org.mdlagent.runtime.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// The kernel's events are counted of a running program, as `getrusage` counts them.
class KernelEventsIT {
    /// What a thread does beside its work: it is made, it reads a line, it writes one.
    private static final int BESIDE = 150;

    private static final int FAULTS = 3000;
    private static final int SWITCHES = 1000;

    /// What was done, as the thread that did it knows.
    private record Usage(long faults, long switches) {
        Usage and(Usage other) {
            return new Usage(faults + other.faults, switches + other.switches);
        }
    }

    @TempDir
    Path directory;

    private Path session;
    private Process process;
    private BufferedReader output;
    private String thread;

    private void start(String... prefix) throws Exception {
        startWith("wait", prefix);
    }

    private void startWith(String options, String... prefix) throws Exception {
        Path program = Dist.compile(directory, "events", "-fpatchable-function-entry=5");
        session = directory.resolve("session");
        List<String> command = new ArrayList<>(List.of(prefix));
        command.add("env"); // what stands before it has no agent
        Dist.preload(options + ",session=" + session).forEach((name, value) -> command.add(name + "=" + value));
        command.add(program.toString());
        process = new ProcessBuilder(command).start();
        output = process.inputReader();
        thread = output.readLine().substring("ready ".length());
    }

    @AfterEach
    void end() throws Exception {
        process.destroyForcibly().waitFor();
    }

    private Usage work(String where, int faults, int switches) throws Exception {
        process.outputWriter().write(where + " " + faults + " " + switches + "\n");
        process.outputWriter().flush();
        String[] done = output.readLine().split(" ");
        return new Usage(Long.parseLong(done[0]), Long.parseLong(done[1]));
    }

    private boolean isAllowed() throws Exception {
        return work("allowed", 0, 0).faults == 1;
    }

    private void enable(String focus) throws Exception {
        for (String metric : List.of("page_faults", "context_switches")) {
            assertThat(Dist.ask(session, "metric enable " + metric + focus)).isEqualTo("ok\n1\t0\t0\n");
        }
    }

    private void assertCounted(String focus, Usage expected) throws Exception {
        Dist.awaitLook(session);
        JsonNode metrics = Dist.report(directory, session).get("metrics");
        assertThat(value(metrics, "page_faults", focus))
                .isBetween((double) expected.faults, (double) expected.faults + BESIDE);
        assertThat(value(metrics, "context_switches", focus))
                .isBetween((double) expected.switches, (double) expected.switches + BESIDE);
    }

    private static double value(JsonNode metrics, String name, String focus) {
        for (JsonNode metric : metrics) {
            JsonNode paths = metric.get("focus");
            if (metric.get("name").asText().equals(name)
                    && (paths.isEmpty() ? "" : "@" + paths.get(0).asText()).equals(focus)) {
                return metric.get("value").asDouble();
            }
        }
        throw new AssertionError(name + focus + " is not in " + metrics);
    }

    @Test
    void shouldCountAllThatTheProgramDoesAndNothingOfTheAgent() throws Exception {
        start();
        assumeThat(isAllowed()).isTrue();
        enable("");

        Usage all = work("here", FAULTS, SWITCHES)
                .and(work("threaded", FAULTS, SWITCHES))
                .and(work("forked", FAULTS, SWITCHES));

        assertThat(all.faults).isGreaterThanOrEqualTo(3 * FAULTS);
        assertCounted("", all);
    }

    @Test
    void shouldCountNothingWhileTheAgentAloneWorks() throws Exception {
        start();
        assumeThat(isAllowed()).isTrue();
        long before = switchesOfTheAgent();
        enable("");

        Dist.await("the agent's work", () -> switchesOfTheAgent() - before > 10);

        JsonNode metrics = Dist.report(directory, session).get("metrics");
        assertThat(value(metrics, "page_faults", "")).isZero();
        assertThat(value(metrics, "context_switches", "")).isZero();
    }

    private long switchesOfTheAgent() throws Exception {
        long sum = 0;
        for (Path one : threads()) {
            for (String line : Files.readAllLines(one.resolve("status"))) {
                boolean counts = line.contains("ctxt_switches") && !one.endsWith(thread);
                sum += counts
                        ? Long.parseLong(line.substring(line.indexOf(':') + 1).strip())
                        : 0;
            }
        }
        return sum;
    }

    private List<Path> threads() throws Exception {
        try (var threads = Files.list(Path.of("/proc/" + thread + "/task"))) {
            return threads.toList();
        }
    }

    @Test
    void shouldTellThreadsAndProcessesApart() throws Exception {
        start();
        assumeThat(isAllowed()).isTrue();
        String ofThread = "@/Thread/" + thread;
        String ofProcess = "@/Process/" + process.pid();
        enable(ofThread);
        enable(ofProcess);

        Usage ofMain = work("here", FAULTS, SWITCHES);
        Usage ofOther = work("threaded", FAULTS, SWITCHES);
        work("forked", FAULTS, SWITCHES);

        assertCounted(ofThread, ofMain);
        assertCounted(ofProcess, ofMain.and(ofOther));
    }

    @Test
    void shouldHoldNothingOfWhatIsCountedNoLonger() throws Exception {
        startWith("wait,exact");
        assumeThat(isAllowed()).isTrue();
        // Those of samples are closed at times: a processor has one, and one for each of the program's threads.
        long ofSamples = 2 * processors();

        for (long i = 0; i <= ofSamples; i++) {
            enable("");
            assertThat(countersHeld()).isGreaterThanOrEqualTo(2);
            assertThat(Dist.ask(session, "metric disable page_faults")).isEqualTo("ok\n1\n");
            assertThat(Dist.ask(session, "metric disable context_switches")).isEqualTo("ok\n1\n");
        }

        assertThat(countersHeld()).isLessThanOrEqualTo(ofSamples);
    }

    /// Processors of the machine, including processors that this process may not use.
    private static long processors() throws Exception {
        try (var devices = Files.list(Path.of("/sys/devices/system/cpu"))) {
            return devices.filter(one -> one.getFileName().toString().matches("cpu\\d+"))
                    .count();
        }
    }

    /// By the agent; the program has none.
    private long countersHeld() throws Exception {
        long most = 0;
        for (Path one : threads()) {
            long count = countersOf(one);
            assertThat(one.endsWith(thread) ? count : 0).isZero();
            most = Math.max(most, count);
        }
        return most;
    }

    private static long countersOf(Path task) throws Exception {
        long count = 0;
        try (var descriptors = Files.list(task.resolve("fd"))) {
            for (Path one : descriptors.toList()) {
                count += isCounter(one) ? 1 : 0;
            }
        }
        return count;
    }

    private static boolean isCounter(Path descriptor) throws Exception {
        try {
            return Files.readSymbolicLink(descriptor).toString().contains("[perf_event]");
        } catch (NoSuchFileException closed) {
            return false; // it was open for a moment
        }
    }

    @Test
    void shouldSayWhyTheKernelRefuses() throws Exception {
        if (Files.isWritable(Path.of("/proc/sys/kernel/perf_event_paranoid"))) { // root, who may count
            start("setpriv", "--bounding-set=-perfmon,-sys_admin");
        } else {
            start();
        }
        assumeThat(isAllowed()).isFalse();

        assertThat(Dist.ask(session, "metric enable page_faults"))
                .matches("error (the kernel refuses to count for this user: perf_event_paranoid is \\d;"
                        + " sysctl kernel.perf_event_paranoid=1, or CAP_PERFMON, allows it"
                        + "|perf_event_open is forbidden here, as in many containers)\n");
        assertThat(Dist.ask(session, "metric enable procedure_calls")).startsWith("ok\n1\t");
    }

    @Test
    void shouldSayWhatThereIsNot() throws Exception {
        start();
        assumeThat(isAllowed()).isTrue();

        assertThat(Dist.ask(session, "metric enable page_faults@/Thread/7"))
                .isEqualTo("error the program has no thread 7\n");
        assertThat(Dist.ask(session, "metric enable page_faults@/Process/1"))
                .isEqualTo("error the program has no process 1\n");
    }
}
