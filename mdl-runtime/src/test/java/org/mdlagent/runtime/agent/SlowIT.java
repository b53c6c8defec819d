package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// `mdl collect slow`: requests of 20 µs in two threads, some of which take 30 ms more. These are known, so each must
/// be kept, however loaded the machine is; others may be slow, too, because they wait for a processor.
class SlowIT {
    private static final int THREADS = 2;
    private static final int SLOW = 12;
    private static final long MILLI = 1_000_000;
    private static final String HANDLER = "handle_request";

    @TempDir
    Path directory;

    private final List<JsonNode> all = new ArrayList<>();

    private static void flatten(JsonNode calls, List<JsonNode> into) {
        for (JsonNode call : calls) {
            into.add(call);
            flatten(call.get("callees"), into);
        }
    }

    private JsonNode collect(String flags, String options) throws Exception {
        return collect(flags, options, "8 sleep, 8 wait, 8 compute", THREADS + "", "1200", 1200 / SLOW + "", "30");
    }

    /// Runs `mdl collect slow`, which must succeed.
    ///
    /// @param options   of the agent
    /// @param arguments of the command
    private Dist.Outcome run(Path session, String options, List<String> arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(Dist.mdl(), "collect", "slow", "-o", session.toString()));
        command.addAll(arguments);
        Dist.Outcome outcome = Dist.run(directory, Map.of("MDL_OPTIONS", options), command);
        assertThat(outcome.status()).as(outcome.err()).isZero();
        return outcome;
    }

    /// Collects calls of 10 ms and more.
    ///
    /// @param told      how the output of the program begins
    /// @param arguments of the program
    private JsonNode collect(String flags, String options, String told, String... arguments) throws Exception {
        Path program = Dist.compile(directory, "slow_requests", flags);
        Path session = directory.resolve("session");
        List<String> slow = new ArrayList<>(List.of("--threshold", "10ms", "--", program.toString()));
        slow.addAll(List.of(arguments));
        Dist.Outcome outcome = run(session, options, slow);
        assertThat(outcome.text()).startsWith(told);
        JsonNode report = Dist.report(directory, session);
        flatten(report.get("slow").get("calls"), all);
        return report;
    }

    /// Of the calls of a function, those in which the thread was off the processors for a time.
    private long waiting(String function, long nanos) {
        return all.stream()
                .filter(call -> call.get("function").asText().equals(function))
                .filter(call -> call.get("waitedNanos") != null
                        && call.get("waitedNanos").asLong() >= nanos)
                .count();
    }

    private long slow(String function) {
        return all.stream()
                .filter(call -> call.get("function").asText().equals(function))
                .filter(call -> call.get("totalNanos").asLong() >= 30 * MILLI)
                .count();
    }

    @ParameterizedTest
    @CsvSource({
        "-finstrument-functions, exact",
        "-finstrument-functions, exact=*",
        "-fpatchable-function-entry=5, exact=*",
        "-O2, exact",
        "-O2, exact=*"
    })
    void shouldKeepEachSlowRequestWithItsCalleesAndTheTimeThatItWaited(String flags, String options) throws Exception {
        JsonNode report = collect(flags, options);

        assertThat(report.get("session").get("collected").asText()).isEqualTo("slow");
        assertThat(report.get("slow").get("thresholdNanos").asDouble()).isBetween(9.9e6, 10.1e6);
        assertThat(report.get("slow").get("cut").asInt()).isZero();
        // The CPU clock is read at most 0.6 ms before a call, and says how long the thread was on a processor since.
        assertThat(waiting(HANDLER, 28 * MILLI)).isGreaterThanOrEqualTo(16);
        assertThat(slow(HANDLER)).isGreaterThanOrEqualTo(THREADS * SLOW);
        assertThat(slow("run_query")).isGreaterThanOrEqualTo(16);
        assertThat(slow("fetch_rows")).isGreaterThanOrEqualTo(16);
        assertThat(slow("await_lock")).isGreaterThanOrEqualTo(8);
        assertThat(slow("parse_request")).isGreaterThanOrEqualTo(8);
        for (JsonNode call : all) {
            long within = 0;
            for (JsonNode callee : call.get("callees")) {
                within += callee.get("totalNanos").asLong();
                assertThat(callee.get("startNanos").asLong())
                        .isGreaterThanOrEqualTo(call.get("startNanos").asLong());
            }
            assertThat(within + call.get("ownNanos").asLong())
                    .isEqualTo(call.get("totalNanos").asLong());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldWriteATraceOfARunningProgram(boolean attached) throws Exception {
        List<String> program =
                List.of(Dist.compile(directory, "slow_requests", "-O2").toString(), "1", "100000000", "1000", "30");
        Path session = directory.resolve("session");
        Process process = attached
                ? new ProcessBuilder(program).start()
                : Dist.start(program, "wait,collect=slow,slow=10ms,exact=*,session=" + session);
        Path trace = directory.resolve("trace.json");
        try {
            if (attached) {
                run(session, "exact=*", List.of("--threshold", "10ms", "--pid", process.pid() + ""));
            }
            Dist.await("a slow call", () -> {
                JsonNode report = Dist.reportOrNull(directory, session);
                return report != null
                        && report.get("slow") != null
                        && report.get("slow").get("calls").size() > 2;
            });
            Dist.Outcome outcome = Dist.run(
                    directory, Map.of(), List.of(Dist.mdl(), "snapshot", "-o", trace.toString(), process.pid() + ""));
            assertThat(outcome.text()).isEqualTo(trace + "\n");
            assertThat(process.isAlive()).isTrue();
        } finally {
            process.destroy();
        }
        assertThat(process.waitFor()).isEqualTo(143);
        JsonNode events = new ObjectMapper().readTree(Files.readString(trace)).get("traceEvents");
        assertThat(events.findValuesAsText("name")).contains(HANDLER, "fetch_rows");
        assertThat(events.findValues("waited, ms")).isNotEmpty();
    }

    /// A function's p99.9 is known a second after its 10,000th call, or when the agent next has a processor.
    @Test
    void shouldKeepCallsBeyondTheirFunctionsOwnPercentile() throws Exception {
        Path program = Dist.compile(directory, "slow_requests", "-O2");
        Path session = directory.resolve("session");
        run(session, "exact=*", List.of("--", program.toString(), "1", "300000", "10000", "30"));
        JsonNode slow = Dist.report(directory, session).get("slow");
        flatten(slow.get("calls"), all);

        assertThat(slow.get("thresholdNanos")).isNull();
        assertThat(slow(HANDLER)).isPositive();
        assertThat(slow("main")).isZero();
    }

    /// The target of the collector: 100 of 10^6 within the default budget, and where those waited that waited.
    @Test
    @Tag("timing")
    void shouldFindOneHundredInAMillionWithinTheBudget() throws Exception {
        JsonNode report = collect("-O2", "", "33 sleep, 34 wait, 33 compute", "1", "1000000", "10000", "30");

        assertThat(slow(HANDLER)).isGreaterThanOrEqualTo(100);
        assertThat(waiting(HANDLER, 28 * MILLI)).isGreaterThanOrEqualTo(67);
        // The budget and two standard errors of 2,500 samples of the CPU time.
        assertThat(report.get("overhead").get("probePercent").asDouble()).isLessThan(1.5);
        long placed = all.stream()
                .filter(call -> call.get("waitedIn") != null)
                .map(call -> call.get("waitedIn").asText())
                .filter(place -> place.contains("nanosleep") || place.contains("futex"))
                .count();
        assertThat(placed).isGreaterThanOrEqualTo(60);
    }
}
