package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// A server that waits at first, and is asked much then: what its functions were called while it waited does not tell
/// of what comes.
@Tag("timing")
class AwakingServerIT {
    private static final int SECONDS = 10;
    private static final double COVERED = 0.9;

    @TempDir
    Path directory;

    @Test
    void shouldNotTakeTheQuietTimeForTheRule() throws Exception {
        Path session = directory.resolve("session");
        Path program = Dist.compile(directory, "awakes", "-fpatchable-function-entry=5");
        Dist.Outcome outcome = Dist.run(
                directory,
                Dist.preload("wait,session=" + session),
                List.of(program.toString(), Integer.toString(SECONDS)));
        assertThat(outcome.status()).isZero();

        JsonNode report = Dist.report(directory, session);
        List<String> truths =
                new String(outcome.out(), StandardCharsets.UTF_8).lines().toList();
        int covered = 0;
        for (String line : truths) {
            String[] truth = line.split(" ");
            JsonNode function = Dist.function(report, truth[0]);
            double calls = function.get("calls").asDouble();
            double bound = function.path("callsError").asDouble(0) * calls;
            covered += Math.abs(calls - Double.parseDouble(truth[1])) <= bound ? 1 : 0;
        }

        System.out.printf(Locale.ROOT, "%d of %d truths are within their bounds%n", covered, truths.size());
        assertThat((double) covered / truths.size()).isGreaterThanOrEqualTo(COVERED);
    }
}
