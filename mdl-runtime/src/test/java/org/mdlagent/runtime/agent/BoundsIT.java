package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// Whether the true durations lie within the 95 % bounds of sliced functions. The functions measure
/// themselves; their durations are steady, alternate, have a long tail, or come in phases.
@Tag("timing")
class BoundsIT {
    private static final int RUNS = 4;
    private static final int TRIES = 8;
    private static final int SECONDS = 6;

    /// A wait for a processor lasts a thousand times as long as a call. A sample of one call in a thousand cannot
    /// tell how much of the time such waits take.
    private static final int WAITS_PER_SECOND = 20;

    private static final String BUDGET = "2";
    private static final double COVERED = 0.9;

    @TempDir
    Path directory;

    private int covered;
    private int stated;

    @Test
    void shouldCoverTheTruthByItsBounds() throws Exception {
        Path program = Dist.compile(directory, "truths", "-fpatchable-function-entry=5", "-Wl,--no-as-needed,-lm");
        int quiet = 0;
        for (int seed = 1; seed <= TRIES && quiet < RUNS; seed++) {
            Path session = directory.resolve("session" + seed);
            String hertz = "2.5e9"; // only for the lengths of its phases
            Dist.Outcome outcome = Dist.run(
                    directory,
                    Dist.preload("wait,sliced=*,budgetPercent=" + BUDGET + ",session=" + session),
                    List.of(program.toString(), Integer.toString(SECONDS), Integer.toString(seed), hertz));
            assertThat(outcome.status()).isZero();
            String[] lines = new String(outcome.out(), StandardCharsets.UTF_8).split("\n");
            System.out.println("waits for a processor: " + lines[0]);
            if (Integer.parseInt(lines[0]) <= WAITS_PER_SECOND * SECONDS) {
                quiet++;
                look(Dist.report(directory, session), List.of(lines).subList(1, lines.length));
            }
        }
        assumeThat(quiet).as("runs during which the machine was quiet").isEqualTo(RUNS);

        System.out.printf(Locale.ROOT, "%d of %d truths are within their bounds%n", covered, stated);
        assertThat(stated).as("bounds stated").isGreaterThan(RUNS * 12);
        assertThat((double) covered / stated).isGreaterThanOrEqualTo(COVERED);
    }

    private void look(JsonNode report, List<String> truths) {
        double nanosPerTick = 1e9 / report.get("session").get("tscHz").asDouble();
        for (String line : truths) {
            String[] truth = line.split(" ");
            JsonNode function = Dist.function(report, truth[0]);
            look(function, "calls", "callsError", Double.parseDouble(truth[1]));
            look(function, "totalNanos", "totalError", Double.parseDouble(truth[2]) * nanosPerTick);
            look(function, "selfNanos", "selfError", Double.parseDouble(truth[3]) * nanosPerTick);
        }
    }

    private void look(JsonNode function, String quantity, String error, double truth) {
        if (!function.has(error)) {
            if (quantity.equals("calls") && function.get("callsExact").asBoolean()) {
                assertThat(function.get(quantity).asDouble()).isEqualTo(truth);
            }
            return;
        }
        double estimate = function.get(quantity).asDouble();
        double bound = function.get(error).asDouble();
        boolean within = Math.abs(estimate - truth) <= bound * estimate;
        System.out.printf(
                Locale.ROOT,
                "%-12s %-10s %+7.2f %% of the truth, stated ±%.2f %%%s%n",
                function.get("symbol").asText(),
                quantity,
                100 * (estimate / truth - 1),
                100 * bound,
                within ? "" : " <-");
        stated++;
        covered += within ? 1 : 0;
    }
}
