package org.mdlagent.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The sampled profiler on sqlite3, against the exact count of the same work.
class SampledIT {
    private static final Path WORKLOAD =
            Path.of("../examples/sqlite-workload.sql").toAbsolutePath().normalize();
    private static final int CALLED_OFTEN = 1000;
    private static final int HOTTEST = 20;

    @TempDir
    Path directory;

    @Test
    void shouldSeeEveryFunctionThatIsCalledOftenAndEstimateItsCalls() throws Exception {
        List<String> command = List.of(
                Dist.debian("sqlite3").toString(), directory.resolve("db").toString());
        Dist.Outcome alone = Dist.run(directory, Map.of(), WORKLOAD, command);
        Files.delete(directory.resolve("db"));
        Path session = directory.resolve("session");
        List<String> sampled = new ArrayList<>(List.of(Dist.mdl(), "run", "--wait", "-o", session.toString(), "--"));
        sampled.addAll(command);

        Dist.Outcome under = Dist.run(directory, Map.of(), WORKLOAD, sampled);

        assertThat(under.out()).isEqualTo(alone.out());
        assertThat(under.status()).isEqualTo(alone.status()).isZero();
        Files.delete(directory.resolve("db"));
        Map<String, Long> exact = Dist.countIndependently(directory, Map.of(), WORKLOAD, command);
        JsonNode report = Dist.report(directory, session);
        Map<String, Long> estimated = Dist.calls(report);

        TreeSet<String> missing = new TreeSet<>();
        exact.forEach((name, calls) -> {
            if (calls >= CALLED_OFTEN && !estimated.containsKey(name)) {
                missing.add(name);
            }
        });
        assertThat(missing).isEmpty();

        List<Map.Entry<String, Long>> hottest = new ArrayList<>(exact.entrySet());
        hottest.sort(Map.Entry.<String, Long>comparingByValue().reversed());
        double worst = 0;
        for (Map.Entry<String, Long> function : hottest.subList(0, HOTTEST)) {
            double error = (double) estimated.get(function.getKey()) / function.getValue() - 1;
            System.out.printf(
                    "%-32s exact %,12d estimated %,12d error %+.2f %%%n",
                    function.getKey(), function.getValue(), estimated.get(function.getKey()), 100 * error);
            worst = Math.max(worst, Math.abs(error));
        }
        assertThat(worst).isLessThanOrEqualTo(0.10);
    }
}
