package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.runtime.Dist;

/// The sampled profiler on sqlite3, against the exact count of the same work.
///
/// The goal is an error of at most 10 % for each of the twenty hottest functions. It is mostly met, but not by each
/// function in each run: one that is called in short phases only is seen in few slices (docs/sampling.md, "What is
/// timed must be warm"). So the test prints all errors, and asserts what holds in every run.
@Tag("timing")
class SampledIT {
    private static final int ROUNDS = 6;
    private static final int CALLED_OFTEN = 1000;
    private static final int HOTTEST = 20;
    private static final double GOAL = 0.10;

    @TempDir
    Path directory;

    @Test
    void shouldSeeEveryFunctionThatIsCalledOftenAndEstimateItsCalls() throws Exception {
        Path aloneIn = Files.createDirectory(directory.resolve("alone"));
        Path underIn = Files.createDirectory(directory.resolve("under"));
        Path countedIn = Files.createDirectory(directory.resolve("counted"));
        Path workload = Dist.sqliteRounds(directory, ROUNDS);
        List<String> command = List.of(Dist.debian("sqlite3").toString(), ":memory:");
        Dist.Outcome alone = Dist.run(aloneIn, Map.of(), workload, command);
        Path session = directory.resolve("session");
        // As many slices as there can be: at the default there are so few that luck would decide.
        List<String> sampled = new ArrayList<>(
                List.of(Dist.mdl(), "run", "--wait", "--budget", "100", "-o", session.toString(), "--"));
        sampled.addAll(command);

        Dist.Outcome under = Dist.run(underIn, Map.of(), workload, sampled);

        assertThat(under.out()).isEqualTo(alone.out()).isNotEmpty();
        assertThat(under.status()).isEqualTo(alone.status()).isZero();
        // Every round is the same work: one is counted, as that takes long.
        Map<String, Long> exact =
                Dist.countIndependently(countedIn, Map.of(), Dist.sqliteRounds(countedIn, 1), command);
        exact.replaceAll((name, calls) -> calls * ROUNDS);
        Map<String, Long> estimated = Dist.calls(Dist.report(directory, session));

        TreeSet<String> missing = new TreeSet<>();
        exact.forEach((name, calls) -> {
            if (calls >= CALLED_OFTEN && !estimated.containsKey(name)) {
                missing.add(name);
            }
        });
        assertThat(missing).isEmpty();

        List<Double> errors = new ArrayList<>();
        List<Map.Entry<String, Long>> hottest = new ArrayList<>(exact.entrySet());
        hottest.sort(Map.Entry.<String, Long>comparingByValue().reversed());
        for (Map.Entry<String, Long> function : hottest.subList(0, HOTTEST)) {
            double error = (double) estimated.get(function.getKey()) / function.getValue() - 1;
            System.out.printf(
                    "%-32s exact %,13d estimated %,13d error %+.2f %%%n",
                    function.getKey(), function.getValue(), estimated.get(function.getKey()), 100 * error);
            errors.add(Math.abs(error));
        }
        errors.sort(null);
        System.out.printf(
                "within 10 %%: %d of %d, median error %.1f %%, largest %.1f %%%n",
                errors.stream().filter(error -> error <= GOAL).count(),
                HOTTEST,
                100 * errors.get(HOTTEST / 2),
                100 * errors.getLast());
        // All are off together, by some percent and otherwise in each run: what probes cost is predicted.
        assertThat(errors.get(HOTTEST / 2)).isLessThanOrEqualTo(1.5 * GOAL);
        // One may be called in a phase of 0.2 s only, of which a busy machine leaves few slices.
        assertThat(errors.get(HOTTEST - 2)).isLessThanOrEqualTo(0.5);
    }
}
