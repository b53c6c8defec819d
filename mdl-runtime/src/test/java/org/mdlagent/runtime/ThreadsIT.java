package org.mdlagent.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.profiler.report.session.SessionReader;

/// Threads that come and go while probes are switched on and off use up nothing, and no call of theirs is lost.
class ThreadsIT {
    private static final int THREADS = 10_000;
    private static final int TOGGLES_MIN = 100;

    /// Those that ended are reused.
    private static final int BLOCKS_MAX = 100;

    private static final long MAPPINGS_GROWTH_MAX = 20;

    /// The JVM's own memory grows; 2 KiB for each thread would be more than this.
    private static final long KIB_GROWTH_MAX = 16_000;

    @TempDir
    Path directory;

    private Path session;
    private Process process;
    private BufferedReader output;

    private void start(String options) throws Exception {
        Path program = Dist.compile(directory, "churn", "-finstrument-functions");
        ProcessBuilder builder = new ProcessBuilder(program.toString(), Integer.toString(THREADS))
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().putAll(Dist.preload("wait," + options + ",session=" + session));
        process = builder.start();
        output = process.inputReader();
        assertThat(output.readLine()).isEqualTo("ready");
    }

    @BeforeEach
    void name() {
        session = directory.resolve("session");
    }

    @Test
    void shouldCountEveryCallOfAFunctionWhileAnotherIsSwitchedOnAndOff() throws Exception {
        start("exact");
        while (!output.ready()) {
            assertThat(Dist.ask(session, "probes off leaf")).isEqualTo("ok\n1 function off\n");
            assertThat(Dist.ask(session, "probes on leaf")).isEqualTo("ok\n1 function on\n");
        }

        long calls = finish();

        JsonNode report = Dist.report(directory, session);
        Map<String, Long> counted = Dist.calls(report);
        assertThat(counted).containsEntry("work", calls);
        assertThat(counted.get("leaf")).isStrictlyBetween(0L, 2 * calls);
        assertThat(report.get("dropped").asLong()).isZero();
    }

    @Test
    void shouldUseUpNothingWhileAllFunctionsAreSampled() throws Exception {
        start("sampleSize=1,epochMillis=2,budgetPercent=100");

        long calls = finish();

        assertThat(Dist.report(directory, session).at("/processes/0/callsSeen").asLong())
                .as("of work() and of leaf()")
                .isStrictlyBetween(0L, 3 * calls);
    }

    /// The calls of work() that the program has counted.
    private long finish() throws Exception {
        long calls = Long.parseLong(output.readLine());
        long[] early = numbers(output.readLine());
        long[] late = numbers(output.readLine());
        process.outputWriter().close();
        assertThat(process.waitFor()).isZero();

        // One is that of a request.
        assertThat(late[0]).as("descriptors").isBetween(early[0] - 1, early[0] + 1);
        assertThat(late[1]).as("mappings").isLessThan(early[1] + MAPPINGS_GROWTH_MAX);
        assertThat(late[2]).as("KiB of memory").isLessThan(early[2] + KIB_GROWTH_MAX);
        try (SessionReader reader = SessionReader.open(session)) {
            assertThat(reader.facts().threads()).isLessThan(BLOCKS_MAX);
            assertThat(reader.facts().toggles()).isGreaterThan(TOGGLES_MIN);
            System.out.printf(
                    "%,d threads, %,d toggles, %,d calls; descriptors, mappings, KiB: %s, then %s%n",
                    THREADS, reader.facts().toggles(), calls, Arrays.toString(early), Arrays.toString(late));
        }
        return calls;
    }

    private static long[] numbers(String line) {
        return Arrays.stream(line.split(" ")).mapToLong(Long::parseLong).toArray();
    }
}
