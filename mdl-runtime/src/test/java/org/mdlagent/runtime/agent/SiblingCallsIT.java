package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// A function that ends with a call of another one may leave its stack frame, and its return address, to that one.
class SiblingCallsIT {
    private static final int FUNCTIONS = 12;
    private static final int JUMPS = 50;

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"--exact", "--exact=left_*"})
    void shouldRecordEveryCall(String exact) throws Exception {
        Path program = Dist.compile(directory, "siblings", "-fpatchable-function-entry=5");
        Path session = directory.resolve("session");

        Dist.Outcome run = Dist.run(
                directory,
                Map.of(),
                List.of(Dist.mdl(), "run", "--wait", exact, "-o", session.toString(), "--", program.toString()));

        assertThat(run.err()).isEmpty();
        assertThat(run.status()).isZero();
        Map<String, Long> printed = ExactCountsIT.printed(run.text());
        printed.keySet().removeAll(List.of("ticks_left", "ticks_called"));
        JsonNode report = Dist.report(directory, session);
        if (exact.equals("--exact")) {
            assertThat(Dist.calls(report)).containsExactlyInAnyOrderEntriesOf(printed);
        }
        for (int i = 1; i <= FUNCTIONS; i++) {
            JsonNode left = Dist.function(report, "left_" + i);
            assertThat(left.get("calls").asLong()).isEqualTo(printed.get("left_" + i));
            // All but the last have ended by a sibling call when the last one jumps.
            assertThat(left.get("sampled").asLong()).isEqualTo(printed.get("left_" + i) - (i == FUNCTIONS ? JUMPS : 0));
        }
        assertThat(report.get("unmatched").asLong()).isZero();
    }

    @Tag("timing")
    @Test
    void shouldCostAsMuchAsACallThatReturns() throws Exception {
        Path program = Dist.compile(directory, "siblings", "-fpatchable-function-entry=5");

        Dist.Outcome run = Dist.run(
                directory, Map.of(), ExactCountsIT.exactly(directory.resolve("session"), List.of(program.toString())));

        Map<String, Long> printed = ExactCountsIT.printed(run.text());
        System.out.println("ticks: " + printed.get("ticks_left") + ", of calls " + printed.get("ticks_called"));
        assertThat(printed.get("ticks_left")).isLessThan(2 * printed.get("ticks_called"));
    }

    @Tag("timing")
    @Test
    void shouldKnowWhatTimeIsAFunctionsOwn() throws Exception {
        String names = "called_";
        Path program = Dist.compile(directory, "siblings", "-fpatchable-function-entry=5");
        Path session = directory.resolve("session");

        Dist.run(
                directory,
                Map.of(),
                List.of(Dist.mdl(), "run", "--wait", "--exact", "-o", session.toString(), "--", program.toString()));

        JsonNode report = Dist.report(directory, session);
        long[] totals = nanos(report, names, "totalNanos");
        assertThat(totals[FUNCTIONS - 1]).isPositive().isLessThan(totals[0] / 2);
        assertThat(LongStream.of(nanos(report, names, "selfNanos")).sum())
                .isCloseTo(totals[0], Percentage.withPercentage(1));
    }

    private static long[] nanos(JsonNode report, String names, String field) {
        return IntStream.rangeClosed(1, FUNCTIONS)
                .mapToLong(i -> Dist.function(report, names + i).get(field).asLong())
                .toArray();
    }
}
