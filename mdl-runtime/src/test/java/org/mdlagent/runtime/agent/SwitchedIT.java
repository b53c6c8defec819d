package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// 1,000 functions, called by two threads all the time, are switched between what collects them: none of them returns
/// something wrong, and no call is lost where each is counted.
class SwitchedIT {
    private static final int FUNCTIONS = 1000;
    private static final int SWITCHES = 6;

    /// Of each function by both threads in the last phase, whose two loops are functions, too.
    private static final long LAST_CALLS = 2 * 300 + 1;

    private static final long LOOPS = 2;

    private static final String ALL = "switched_*";
    private static final String SOME = "switched_*7";

    /// A metric that counts the calls of all functions.
    private static final String METRIC = "procedure_calls";

    @TempDir
    Path directory;

    private Process program;

    private Path session() {
        return directory.resolve("session");
    }

    private void start(String flags, String options) throws Exception {
        Path compiled = Dist.compile(directory, "switched", flags);
        program = Dist.start(List.of(compiled.toString()), "wait," + options + ",session=" + session());
        assertThat(program.inputReader().readLine()).isEqualTo("ready");
    }

    private void tell(String what, String answer) throws IOException {
        program.outputWriter().write(what + "\n");
        program.outputWriter().flush();
        assertThat(program.inputReader().readLine()).isEqualTo(answer);
    }

    private void probes(String state, String functions) throws IOException {
        assertThat(Dist.ask(session(), "probes " + state + " " + functions))
                .isEqualTo(
                        "ok\n%d functions %s\n".formatted(functions.equals(ALL) ? FUNCTIONS : FUNCTIONS / 10, state));
    }

    private void metric(String state) throws IOException {
        assertThat(Dist.ask(session(), "metric " + state + " " + METRIC)).startsWith("ok\n");
    }

    /// @return how often each function was called, by the program's own count
    private Map<String, Long> end() throws Exception {
        program.outputWriter().close();
        List<String> lines = program.inputReader().lines().toList();
        assertThat(program.waitFor()).isZero();
        assertThat(lines.getFirst()).isEqualTo("0 wrong");
        Map<String, Long> calls = new TreeMap<>();
        for (String line : lines.subList(1, lines.size())) {
            String[] parts = line.split(" ");
            calls.put(parts[0], Long.parseLong(parts[1]));
        }
        assertThat(calls).hasSize(FUNCTIONS);
        return calls;
    }

    private static Map<String, Long> calls(JsonNode report) {
        Map<String, Long> calls = new TreeMap<>(Dist.calls(report));
        calls.keySet().removeIf(name -> !name.startsWith("switched_"));
        return calls;
    }

    private static double ofMetric(JsonNode report) {
        assertThat(report.get("metrics")).hasSize(1);
        return report.get("metrics").get(0).get("value").asDouble();
    }

    /// Switched off, a function's calls are not counted: those of the last phase are, each.
    @ParameterizedTest
    @ValueSource(strings = {"counts", "blocks"})
    void shouldCountEachCallOnceCollectorsAreLeftOn(String what) throws Exception {
        start("-fcf-protection=none", "collect=" + what);
        tell("s", "started");
        for (int i = 0; i < SWITCHES; i++) {
            metric("force");
            probes("off", i % 2 == 0 ? ALL : SOME);
            metric("disable");
            probes("on", ALL);
        }
        probes("off", SOME);
        metric("force");
        probes("on", SOME);
        tell("q", "quiet");
        JsonNode quiet = Dist.report(directory, session());
        tell("n", "quiet");

        Map<String, Long> own = end();

        JsonNode report = Dist.report(directory, session());
        Map<String, Long> before = calls(quiet);
        Map<String, Long> after = calls(report);
        Map<String, Long> counted = new TreeMap<>();
        after.forEach((name, count) -> counted.put(name, count - before.getOrDefault(name, 0L)));
        assertThat(counted.keySet()).isEqualTo(own.keySet());
        assertThat(counted.values()).containsOnly(LAST_CALLS);
        assertThat(after.entrySet()).allMatch(function -> function.getValue() <= own.get(function.getKey()));
        assertThat(report.get("dropped").asLong()).isZero();
        assertThat(ofMetric(report) - ofMetric(quiet)).isEqualTo(FUNCTIONS * LAST_CALLS + LOOPS);
    }

    /// Every call is counted whatever else is recorded of it.
    @ParameterizedTest
    @ValueSource(strings = {"-fpatchable-function-entry=5", "-fcf-protection=none"})
    void shouldCountEachCallWhileTiersAndMetricsChange(String flags) throws Exception {
        start(flags, "counted=" + ALL);
        tell("s", "started");
        for (int i = 0; i < SWITCHES; i++) {
            probes("exact", i % 2 == 0 ? ALL : SOME);
            metric("force");
            probes("7", i % 3 == 0 ? ALL : SOME);
            metric("disable");
            probes("1000", ALL);
        }
        tell("q", "quiet");
        tell("n", "quiet");

        Map<String, Long> own = end();

        JsonNode report = Dist.report(directory, session());
        assertThat(calls(report)).isEqualTo(own);
        assertThat(report.get("dropped").asLong()).isZero();
    }
}
