package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// Functions that spin for known times are reported with a median within 2 % or 100 ns, whichever is larger.
@Tag("timing")
class DurationsIT {
    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"--exact", "--budget=1"})
    void shouldReportKnownDurations(String mode) throws Exception {
        Path program = Dist.compile(directory, "spin", "-finstrument-functions");
        Path session = directory.resolve("session");

        Dist.Outcome run = Dist.run(
                directory,
                Map.of(),
                List.of(Dist.mdl(), "run", "--wait", mode, "-o", session.toString(), "--", program.toString()));

        assertThat(run.status()).isZero();
        JsonNode report = Dist.report(directory, session);
        double hz = 0;
        int checked = 0;
        for (String line : run.text().split("\n")) {
            String[] fields = line.split(" ");
            if (fields[0].equals("hz")) {
                hz = Double.parseDouble(fields[1]);
                continue;
            }
            double expected = Long.parseLong(fields[1]) / hz * 1e9;
            double median = Dist.function(report, fields[0]).get("p50Nanos").asDouble();
            System.out.printf("%s %s: expected %.0f ns, median %.0f ns%n", mode, fields[0], expected, median);
            assertThat(Math.abs(median - expected)).as(fields[0]).isLessThanOrEqualTo(Math.max(100, expected * 0.02));
            checked++;
        }
        assertThat(checked).isEqualTo(5);
    }
}
