package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.assertj.core.data.Offset;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.runtime.Dist;

/// With `--cpu-time` a call lasts as long as its thread has a processor, as the program itself is told by the kernel.
class CpuTimeIT {
    private static final double SLEEP_NANOS = 5e6;
    private static final Percentage TOLERANCE = Percentage.withPercentage(10);

    /// What asking for the time, and a probe, may take.
    private static final Offset<Double> PROBE = within(20_000.0);

    @TempDir
    Path directory;

    /// What the program says of its functions: nanoseconds for each call.
    private final Map<String, Double> expected = new HashMap<>();

    private long calls;
    private double total;

    private JsonNode run(String flags, String... options) throws Exception {
        Path program = Dist.compile(directory, "cpu_time", flags);
        Path session = directory.resolve("session");
        List<String> command = new ArrayList<>(List.of(Dist.mdl(), "run", "--wait", "-o", session.toString()));
        command.addAll(List.of(options));
        command.addAll(List.of("--", program.toString()));
        Dist.Outcome run = Dist.run(directory, Map.of(), command);
        assertThat(run.status()).isZero();
        for (String line : run.text().split("\n")) {
            String[] fields = line.split(" ");
            if (fields[0].equals("total")) {
                total = Double.parseDouble(fields[1]);
            } else {
                calls = Long.parseLong(fields[1]);
                expected.put(fields[0], Double.parseDouble(fields[2]) / calls);
            }
        }
        assertThat(expected).containsOnlyKeys("sleeps", "computes", "both");
        return Dist.report(directory, session);
    }

    private static double nanos(JsonNode report, String function, String field) {
        return Dist.function(report, function).get(field).asDouble();
    }

    @Tag("timing")
    @ParameterizedTest
    @CsvSource({
        "-finstrument-functions, --exact",
        "-finstrument-functions, --budget=100",
        "-finstrument-functions, --exact=*s",
        "-fpatchable-function-entry=5, --exact",
        "-fpatchable-function-entry=5, --budget=100",
        "-fpatchable-function-entry=5, --exact=*s",
    })
    void shouldMeasureCpuTime(String flags, String mode) throws Exception {
        JsonNode report = run(flags, "--cpu-time", mode);

        assertThat(report.at("/session/time").asText()).isEqualTo("cpu");
        assertThat(nanos(report, "sleeps", "meanNanos")).isCloseTo(expected.get("sleeps"), PROBE);
        assertThat(nanos(report, "sleeps", "p90Nanos")).isLessThan(SLEEP_NANOS / 10);
        assertThat(nanos(report, "computes", "meanNanos")).isCloseTo(expected.get("computes"), TOLERANCE);
        assertThat(nanos(report, "both", "meanNanos")).isCloseTo(expected.get("both"), TOLERANCE);
        assertThat(nanos(report, "computes", "totalNanos")).isCloseTo(expected.get("computes") * 2 * calls, TOLERANCE);
        // What both() computes is computes()'. Of an exact function's calls, some 70 of 240 here tell who calls it.
        double chance = mode.equals("--exact=*s") ? 0.25 : 0.1;
        assertThat(nanos(report, "both", "selfNanos")).isLessThan(chance * nanos(report, "both", "totalNanos"));
        assertThat(total).isGreaterThan(nanos(report, "computes", "totalNanos"));
        // The thread's time begins anew in the child.
        assertThat(nanos(report, "forks", "maxNanos")).isLessThan(1e9);
    }

    /// The other test would be worth nothing if this did not hold.
    @Tag("timing")
    @ParameterizedTest
    @CsvSource({"--exact", "--budget=100"})
    void shouldMeasureTheTimeThatPassesOtherwise(String mode) throws Exception {
        JsonNode report = run("-finstrument-functions", mode);

        assertThat(report.at("/session/time").asText()).isEqualTo("wall");
        assertThat(nanos(report, "sleeps", "p50Nanos")).isGreaterThan(SLEEP_NANOS);
        assertThat(nanos(report, "both", "meanNanos")).isGreaterThan(SLEEP_NANOS + expected.get("computes"));
    }

    @Test
    void shouldSayWhatDurationsAre() throws Exception {
        assertThat(run("-finstrument-functions", "--cpu-time")
                        .at("/session/time")
                        .asText())
                .isEqualTo("cpu");
        String session = directory.resolve("session").toString();

        assertThat(Dist.run(directory, Map.of(), List.of(Dist.mdl(), "report", session))
                        .text()
                        .lines()
                        .findFirst())
                .hasValueSatisfying(heading -> assertThat(heading).contains("sampled for 1.0%, 4 exact, CPU time · "));
        assertThat(Dist.run(directory, Map.of(), List.of(Dist.mdl(), "report", session, "--format=prometheus"))
                        .text())
                .contains("time=\"cpu\"");
    }
}
