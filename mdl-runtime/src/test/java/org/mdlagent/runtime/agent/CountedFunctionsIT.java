package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.runtime.Dist;
import org.mdlagent.runtime.SessionWords;

/// Functions whose calls are all counted: all are timed, or some by chance. Their tier is named, or chosen by how often
/// they are called, and may change while they run.
class CountedFunctionsIT {
    private static final int MEAN = 50;
    private static final int THREADS = 4;
    private static final double SIGMAS = 6;

    @TempDir
    Path directory;

    private Path session() {
        return directory.resolve("session");
    }

    private Process start(String flags, String options, String... arguments) throws Exception {
        String name = arguments.length == 1 ? "churn" : "chosen_calls";
        Path program = Dist.compile(directory, name, flags.split(" "));
        ProcessBuilder builder = new ProcessBuilder(program.toString()).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.command().addAll(List.of(arguments));
        builder.environment().putAll(Dist.preload("wait," + options + ",session=" + session()));
        return builder.start();
    }

    /// @return the calls of `work` that the program has made by its own count
    private static long awaitCalls(BufferedReader output) throws IOException {
        return Long.parseLong(output.readLine());
    }

    private JsonNode end(Process process) throws Exception {
        process.outputWriter().close();
        assertThat(process.waitFor()).isZero();
        JsonNode report = Dist.report(directory, session());
        assertThat(report.get("dropped").asLong()).isZero();
        return report;
    }

    private void ask(String tier, String function) throws IOException {
        assertThat(Dist.ask(session(), "probes " + tier + " " + function)).isEqualTo("ok\n1 function " + tier + "\n");
    }

    /// A call takes as long as it takes at least, so no other program can make a total smaller.
    @ParameterizedTest
    @ValueSource(strings = {"-finstrument-functions", "-fpatchable-function-entry=5"})
    void shouldCountEveryCallAndTimeAnUnbiasedSample(String flags) throws Exception {
        long nanos = 1000;
        Process process = start(flags, "counted=work,countedMean=" + MEAN, THREADS + "", "60000", nanos + "");
        BufferedReader output = process.inputReader();
        assertThat(output.readLine()).isEqualTo("ready");
        long calls = awaitCalls(output);
        assertThat(calls).isEqualTo(THREADS * 60_000L);

        JsonNode report = end(process);

        JsonNode work = Dist.function(report, "work");
        assertThat(work.get("calls").asLong()).isEqualTo(calls);
        assertThat(work.get("callsExact").asBoolean()).isTrue();
        assertThat(work.get("exact").asBoolean()).isFalse();
        double timed = (double) calls / MEAN;
        assertThat(work.get("sampled").asDouble())
                .isBetween(timed - SIGMAS * Math.sqrt(timed), timed + SIGMAS * Math.sqrt(timed));
        assertThat(work.get("p50Nanos").asDouble()).isBetween(0.97 * nanos, 9.7 * nanos);
        assertThat(work.get("p90Nanos").asDouble()).isGreaterThan(9.7 * nanos);
        // The mean of a call, 3.25 short ones, varies by 3.9 of them.
        double least = 3.25 - SIGMAS * 3.9 / Math.sqrt(timed);
        // Timed calls that lost their processors for long, each of which stands for a hundred, leave it unknown.
        if (work.has("totalNanos")) {
            assertThat(work.get("totalNanos").asDouble()).isGreaterThan(least * nanos * calls);
            assertThat(work.get("totalError").asDouble()).isPositive();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"-finstrument-functions", "-fpatchable-function-entry=5"})
    void shouldCountEveryCallWhileTiersChangeAndThreadsComeAndGo(String flags) throws Exception {
        Process process = start(flags, "counted=work,exact=leaf,countedMean=" + MEAN, "10000");
        BufferedReader output = process.inputReader();
        assertThat(output.readLine()).isEqualTo("ready");
        do {
            for (String tier : List.of("exact", "7", "1000")) {
                ask(tier, "work");
                ask(tier, "leaf");
            }
        } while (!output.ready());
        long calls = awaitCalls(output);

        JsonNode report = end(process);

        for (JsonNode function : List.of(Dist.function(report, "work"), Dist.function(report, "leaf"))) {
            long called = function.get("symbol").asText().equals("leaf") ? 2 * calls : calls;
            assertThat(function.get("calls").asLong()).isEqualTo(called);
            assertThat(function.get("callsExact").asBoolean()).isTrue();
            assertThat(function.get("sampled").asLong()).isBetween(1L, called);
        }
    }

    /// It is called so rarely that its slices stay open, unless the machine is so busy that the agent ends them late.
    /// Then what is not known exactly has bounds.
    @ParameterizedTest
    @ValueSource(strings = {"-finstrument-functions", "-fpatchable-function-entry=5"})
    void shouldCountEveryCallWhileSlicesTakeTurnsWithOtherTiers(String flags) throws Exception {
        long nanos = 40_000;
        Process process = start(flags, "counted=work,countedMean=3", THREADS + "", "1500", nanos + "");
        BufferedReader output = process.inputReader();
        assertThat(output.readLine()).isEqualTo("ready");
        do {
            for (String tier : List.of("sliced", "exact", "5", "sliced", "2", "exact")) {
                ask(tier, "work");
            }
        } while (!output.ready());
        long calls = awaitCalls(output);

        JsonNode report = end(process);

        JsonNode work = Dist.function(report, "work");
        boolean exact = work.get("callsExact").asBoolean();
        assertThat(work.get("calls").asDouble())
                .as("%s", work)
                .isCloseTo(
                        calls,
                        within(exact ? 0 : SIGMAS / 2 * work.get("callsError").asDouble() * calls));
        assertThat(work.get("exact").asBoolean()).isFalse();
        assertThat(work.get("sampled").asLong()).isBetween(1L, calls);
        assertThat(work.get("minNanos").asDouble()).isGreaterThan(0.97 * nanos);
        assertThat(report.get("unmatched").asLong()).isZero();
    }

    /// Nobody has named a tier: what is rare is recorded wholly.
    @ParameterizedTest
    @ValueSource(strings = {"-finstrument-functions", "-fpatchable-function-entry=5"})
    void shouldRecordEveryCallOfWhatIsRare(String flags) throws Exception {
        Process process = start(flags, "", THREADS + "", "150", "400000");
        BufferedReader output = process.inputReader();
        assertThat(output.readLine()).isEqualTo("ready");
        long calls = awaitCalls(output);

        JsonNode work = Dist.function(end(process), "work");

        assertThat(work.get("calls").asLong()).isEqualTo(calls);
        assertThat(work.get("callsExact").asBoolean()).isTrue();
        assertThat(work.get("exact").asBoolean()).isTrue();
        assertThat(work.get("sampled").asLong()).isEqualTo(calls);
    }

    /// By the thread that calls it, which pays for 64 calls at a time: at this budget their price is 15 ms of its time,
    /// and it has saved 0.1 s. All these calls take less than the agent needs to come to look at them.
    @ParameterizedTest
    @ValueSource(strings = {"-finstrument-functions", "-fpatchable-function-entry=5"})
    void shouldStopWhatBecomesHotBeforeTheAgentLooks(String flags) throws Exception {
        int calls = 100_000;
        Path program = Dist.compile(directory, "sudden", flags);
        Process process = Dist.start(List.of(program.toString()), "wait,budgetPercent=0.01,session=" + session());
        BufferedReader output = process.inputReader();
        assertThat(output.readLine()).isEqualTo("ready");
        Dist.await("tiers have been chosen", () -> price() != 0);
        process.outputWriter().write(calls + "\n");
        process.outputWriter().flush();
        assertThat(awaitCalls(output)).isEqualTo(calls);

        JsonNode called = Dist.function(end(process), "called");

        // Slices that have opened since have timed some.
        assertThat(called.get("sampled").asLong()).isBetween(2 * 64L, calls / 10L);
        // Whether the agent has come meanwhile or not.
        assertThat(called.get("callsExact").asBoolean()).isFalse();
        assertThat(called.get("exact").asBoolean()).isFalse();
    }

    /// A thread pays for calls that it has made. Did it pay for 64 calls before the first of each function, it could
    /// not afford the eighth function here.
    @ParameterizedTest
    @ValueSource(strings = {"-finstrument-functions", "-fpatchable-function-entry=5"})
    void shouldNotStopFunctionsThatAThreadCallsAFewTimes(String flags) throws Exception {
        Path program = Dist.compile(directory, "seldom", flags);
        Process process = Dist.start(List.of(program.toString()), "wait,budgetPercent=0.01,session=" + session());
        BufferedReader output = process.inputReader();
        assertThat(output.readLine()).isEqualTo("ready");
        Dist.await("tiers have been chosen", () -> price() != 0);
        process.outputWriter().write("\n");
        process.outputWriter().flush();
        assertThat(awaitCalls(output)).isEqualTo(1000);

        assertThat(SessionWords.of(session()).get(HeaderDescriptor.EXPIRED)).isZero();
        JsonNode unused = end(process);
    }

    /// Most calls are recorded by generated code, the first ones by the shim.
    @Test
    void shouldNotTakeTheRecordingOfOthersForACallsTime() throws Exception {
        Path program = Dist.compile(directory, "told", "-fpatchable-function-entry=5");
        Process process = Dist.start(
                List.of(program.toString(), "1000"),
                "wait,exact=spent,exact=own,budgetPercent=100,session=" + session());

        JsonNode report = end(process);

        for (String name : List.of("spent", "own")) {
            JsonNode function = Dist.function(report, name);
            assertThat(function.get("calls").asLong()).isEqualTo(1000);
            assertThat(function.get("sampled").asLong()).isEqualTo(1000);
        }
        assertThat(Dist.function(report, "spent").get("maxNanos").asLong()).isZero();
        assertThat(Dist.function(report, "own").get("maxNanos").asLong()).isPositive();
    }

    private long price() throws IOException {
        return SessionWords.of(session()).get(HeaderDescriptor.TICK_PRICE);
    }

    /// Some million calls a second of each thread, for as long as it takes.
    @ParameterizedTest
    @ValueSource(strings = {"-finstrument-functions", "-fpatchable-function-entry=5"})
    void shouldNotGoOnRecordingEveryCallOfWhatIsHot(String flags) throws Exception {
        Process process = start(flags, "", "2", "1000000000000", "0");
        try {
            assertThat(process.inputReader().readLine()).isEqualTo("ready");
            JsonNode work = Dist.function(Dist.report(directory, session()), "work");
            while (work.get("exact").asBoolean() || work.get("calls").asLong() < 10_000_000) {
                work = Dist.function(Dist.report(directory, session()), "work");
            }

            assertThat(work.get("sampled").asLong())
                    .isBetween(1L, work.get("calls").asLong() / 2);
        } finally {
            process.destroyForcibly().waitFor();
        }
    }
}
