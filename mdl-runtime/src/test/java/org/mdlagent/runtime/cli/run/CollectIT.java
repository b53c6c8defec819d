package org.mdlagent.runtime.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// `mdl collect`: which functions are called, and how often. All threads of the program make their first calls at the
/// same time.
class CollectIT {
    private static final int THREADS = 8;
    private static final long ROUNDS = 1000;
    private static final int FUNCTIONS = 100;
    private static final String IN_CHILD = "called_in_child";
    private static final String BARE = "-O2";

    @TempDir
    Path directory;

    private Path session() {
        return directory.resolve("session");
    }

    /// Those of the program that are there to be called, or not to be.
    private static Map<String, Long> calls(JsonNode report) {
        Map<String, Long> calls = new TreeMap<>(Dist.calls(report));
        calls.keySet().removeIf(name -> !name.startsWith("called_") && !name.startsWith("uncalled_"));
        return calls;
    }

    private static Set<String> expected() {
        Set<String> names = new TreeSet<>(Set.of(IN_CHILD));
        for (int i = 0; i < FUNCTIONS; i++) {
            names.add("called_%02d".formatted(i));
        }
        return names;
    }

    private Process start(String flags, String options) throws Exception {
        Path program = Dist.compile(directory, "covered", flags);
        Process process =
                Dist.start(List.of(program.toString(), THREADS + ""), "wait," + options + ",session=" + session());
        assertThat(process.inputReader().readLine()).isEqualTo("done");
        return process;
    }

    private JsonNode end(Process process) throws Exception {
        process.outputWriter().close();
        assertThat(process.waitFor()).isZero();
        return Dist.report(directory, session());
    }

    /// Whether each of a function's probes is on.
    private List<String> probes(String function) throws Exception {
        List<String> states = new ArrayList<>();
        String answer = Dist.ask(session(), "probes points 0 " + function);
        assertThat(answer).startsWith("ok\n");
        for (String line : answer.substring("ok\n".length()).split("\n")) {
            states.add(line.split("\t")[4]);
        }
        return states;
    }

    @ParameterizedTest
    @ValueSource(strings = {"-finstrument-functions", "-fpatchable-function-entry=5", BARE})
    void shouldRecordEachFunctionThatIsCalledAndSwitchItsProbeOff(String flags) throws Exception {
        Process process = start(flags, "collect=coverage");

        assertThat(probes("called_07")).containsOnly("off");
        assertThat(probes(IN_CHILD)).containsOnly("off");
        assertThat(probes("uncalled_07")).contains("on");
        JsonNode report = end(process);
        assertThat(calls(report).keySet()).isEqualTo(expected());
        assertThat(report.get("session").get("collected").asText()).isEqualTo("coverage");
        JsonNode image = report.get("coverage").get("images").get(0);
        assertThat(image.get("probed").asInt() - image.get("called").asInt()).isGreaterThanOrEqualTo(FUNCTIONS);
        assertThat(image.get("files").get(0).get("called").asInt()).isGreaterThan(FUNCTIONS);
    }

    @Test
    void shouldNotTakeFirstCallsForCalls() throws Exception {
        Process process = start(BARE, "collect=coverage");
        Dist.Outcome top = Dist.run(
                directory,
                Map.of(),
                List.of(Dist.mdl(), "top", "--count", "1", session().toString()));
        end(process);
        Dist.Outcome diff = Dist.run(
                directory,
                Map.of(),
                List.of(Dist.mdl(), "diff", session().toString(), session().toString()));

        assertThat(top.status()).isEqualTo(2);
        assertThat(top.err()).contains("a coverage session does not know how often functions were called");
        assertThat(diff.status()).isEqualTo(2);
        assertThat(diff.err()).contains("a coverage session does not know how often functions were called");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-finstrument-functions", "-fpatchable-function-entry=5", BARE})
    void shouldCountEachCall(String flags) throws Exception {
        JsonNode report = end(start(flags, "collect=counts"));

        Map<String, Long> calls = calls(report);
        assertThat(calls.keySet()).isEqualTo(expected());
        assertThat(calls.remove(IN_CHILD)).isOne();
        assertThat(calls.values()).containsOnly(THREADS * ROUNDS);
        JsonNode one = Dist.function(report, "called_07");
        assertThat(one.get("callsExact").asBoolean()).isTrue();
        assertThat(one.get("sampled").asLong()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"coverage", "counts", "latency"})
    void shouldCollectNothingBeforeItIsTime(String what) throws Exception {
        Process process = start(BARE, "collect=" + what + ",after=1h");

        assertThat(probes("called_07")).containsOnly("off");
        assertThat(calls(end(process))).isEmpty();
    }

    @Test
    void shouldFollowAControlFileAndWriteATracefile() throws Exception {
        Path program = Dist.compile(directory, "covered", BARE);
        Path trace = directory.resolve("app.info");
        Path control = Files.writeString(
                directory.resolve("control.properties"), """
                # each function's first call
                collect = coverage
                application = %s %d
                exclude = called_07
                session = %s
                report = lcov:%s
                """.formatted(program, THREADS, session(), trace));

        Dist.Outcome outcome = Dist.run(directory, Map.of(), List.of(Dist.mdl(), "collect", control.toString()));

        assertThat(outcome.status()).as(outcome.err()).isZero();
        assertThat(outcome.text()).isEqualTo("done\n");
        assertThat(Files.readAllLines(trace))
                .contains("TN:", "FNDA:1,called_42", "FNDA:1,called_in_child", "FNDA:0,uncalled_42", "end_of_record")
                .doesNotContain("FNDA:1,called_07", "FNDA:0,called_07");
        Path pages = directory.resolve("pages");
        Dist.Outcome rendered =
                Dist.run(directory, Map.of(), List.of("genhtml", "-o", pages.toString(), trace.toString()));
        assertThat(rendered.status()).as(rendered.err()).isZero();
        assertThat(pages.resolve("index.html")).isRegularFile();
    }

    /// Calls of the rule's function count from the start, those of others from when it holds.
    @Test
    void shouldCollectFromWhenARuleHolds() throws Exception {
        Path program = Dist.compile(directory, "slow_requests", BARE);
        Process process = Dist.start(
                List.of(program.toString(), "1", "100000000", "100000000", "1"),
                "wait,collect=counts,when=calls(handle_request) > 5000,session=" + session());
        try {
            Dist.await("the collection", () -> {
                JsonNode report = Dist.reportOrNull(directory, session());
                return report != null && Dist.calls(report).getOrDefault("parse_request", 0L) > 0;
            });
        } finally {
            process.destroy();
        }
        process.waitFor();

        Map<String, Long> calls = Dist.calls(Dist.report(directory, session()));
        assertThat(calls.get("handle_request") - calls.get("parse_request")).isGreaterThan(5000);
        assertThat(calls).doesNotContainKey("serve");
        assertThat(Files.readString(session().resolve("agent.log"))).contains("collects: calls(handle_request) > 5000");
    }
}
