package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.Dist;

/// Threads that come and go while probes are switched on and off use up nothing, and no call of theirs is lost.
class ThreadsIT {
    private static final int THREADS = 2000;
    private static final int MANY_THREADS = 10_000;

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

    private void start(int threads, String options) throws Exception {
        Path program = Dist.compile(directory, "churn", "-finstrument-functions");
        ProcessBuilder builder = new ProcessBuilder(program.toString(), Integer.toString(threads))
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
        start(THREADS, "exact");
        do {
            assertThat(Dist.ask(session, "probes off leaf")).isEqualTo("ok\n1 function off\n");
            assertThat(Dist.ask(session, "probes on leaf")).isEqualTo("ok\n1 function on\n");
        } while (!output.ready());

        long calls = Long.parseLong(output.readLine());
        finish();

        JsonNode report = Dist.report(directory, session);
        Map<String, Long> counted = Dist.calls(report);
        assertThat(counted).containsEntry("work", calls);
        assertThat(counted.get("leaf")).isBetween(1L, 2 * calls);
        assertThat(report.get("dropped").asLong()).isZero();
    }

    /// Libc puts thread-local memory on top of each stack, those of the agent's threads included.
    @Test
    void shouldCountWhereThreadLocalMemoryIsLarge() throws Exception {
        Path program = Dist.compile(directory, "large_tls", "-fpatchable-function-entry=5");

        Dist.Outcome run =
                Dist.run(directory, Dist.preload("wait,exact,session=" + session), List.of(program.toString()));

        assertThat(run.text()).isEqualTo("done\n");
        assertThat(Dist.calls(Dist.report(directory, session))).containsEntry("touch", 100L);
    }

    @Tag("soak")
    @ParameterizedTest
    @ValueSource(strings = {"exact", "budgetPercent=100"})
    void shouldUseUpNothing(String options) throws Exception {
        start(MANY_THREADS, options);

        long calls = Long.parseLong(output.readLine());
        long[] early = numbers(output.readLine());
        long[] late = numbers(output.readLine());
        finish();

        System.out.printf(
                "%s: descriptors, mappings, KiB: %s, then %s%n",
                options, Arrays.toString(early), Arrays.toString(late));
        // One is that of a request.
        assertThat(late[0]).as("descriptors").isBetween(early[0] - 1, early[0] + 1);
        assertThat(late[1]).as("mappings").isLessThan(early[1] + MAPPINGS_GROWTH_MAX);
        assertThat(late[2]).as("KiB of memory").isLessThan(early[2] + KIB_GROWTH_MAX);

        assertThat(Dist.report(directory, session).at("/processes/0/callsSeen").asLong())
                .as("of work() and of leaf()")
                .isBetween(1L, 3 * calls);
    }

    @Test
    void shouldCountTheCallsOfAThousandThreadsThatAreThereAtOnce() throws Exception {
        shouldCountTheCallsOfACrowd(1200, "exact=work");
    }

    @Tag("soak")
    @ParameterizedTest
    @ValueSource(strings = {"exact", "exact=work"})
    void shouldCountTheCallsOfFiveThousandThreadsThatAreThereAtOnce(String options) throws Exception {
        shouldCountTheCallsOfACrowd(5000, options);
    }

    private void shouldCountTheCallsOfACrowd(int threads, String options) throws Exception {
        Path program = Dist.compile(directory, "crowd", "-finstrument-functions");

        Dist.Outcome run = Dist.run(
                directory,
                Dist.preload("wait," + options + ",session=" + session),
                List.of(program.toString(), Integer.toString(threads), "100"));

        assertThat(run.status()).isZero();
        JsonNode report = Dist.report(directory, session);
        assertThat(report.get("losses")).isEmpty();
        assertThat(Dist.calls(report)).containsEntry("work", threads * 100L);
    }

    private void finish() throws Exception {
        process.outputWriter().close();
        assertThat(process.waitFor()).isZero();
        try (SessionReader reader = SessionReader.open(session)) {
            assertThat(reader.facts().process().threads()).isLessThan(BLOCKS_MAX);
            assertThat(reader.facts().costs().toggles()).isPositive();
        }
    }

    private static long[] numbers(String line) {
        return Arrays.stream(line.split(" ")).mapToLong(Long::parseLong).toArray();
    }
}
