package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.Dist;

/// What the sampled profiler spends on sqlite3, which makes some 100 million calls of probed functions a second.
///
/// The spending is what the session says: CPU time of all threads of the agent, from the kernel, and what probes have
/// counted, times what that was measured to cost. The median of some runs, as what the VM compiles meanwhile differs.
@Tag("timing")
class GovernorIT {
    private static final int RUNS = 3;
    private static final int ROUNDS = 8;

    /// On a busy machine the virtual machine still compiles what measures after 4 s.
    private static final long WARM_UP_MILLIS = 10_000;

    private static final long MILLIS = 8000;

    /// One rotation more or less, of some five a second.
    private static final double TOLERANCE = 0.5;

    @TempDir
    Path directory;

    @Test
    void shouldSpendNoMoreThanTheBudget() throws Exception {
        double[] percent = new double[RUNS];
        for (int i = 0; i < RUNS; i++) {
            percent[i] = spent("1", i);
            System.out.printf("budget 1 %%: %.2f %% spent%n", percent[i]);
        }
        Arrays.sort(percent);
        assertThat(percent[RUNS / 2]).isPositive().isLessThanOrEqualTo(1 + TOLERANCE);
    }

    @Test
    void shouldSpendMoreWhenItMay() throws Exception {
        double percent = spent("100", 0);

        System.out.printf("without rests: %.2f %% spent%n", percent);
        assertThat(percent).isGreaterThan(3);
    }

    private double spent(String budget, int run) throws Exception {
        Path runsIn = Files.createDirectory(directory.resolve("budget" + budget + "run" + run));
        Path workload = Dist.sqliteRounds(runsIn, ROUNDS);
        Path session = runsIn.resolve("session");
        List<String> command = new ArrayList<>(
                List.of(Dist.mdl(), "run", "--wait", "--budget", budget, "-o", session.toString(), "--"));
        command.addAll(List.of(Dist.debian("sqlite3").toString(), ":memory:"));
        Process process = new ProcessBuilder(command)
                .directory(runsIn.toFile())
                .redirectInput(workload.toFile())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            Thread.sleep(WARM_UP_MILLIS);
            Profile before = profile(session);
            Thread.sleep(MILLIS);
            Profile after = profile(session);
            assertThat(process.isAlive()).as("it is still running").isTrue();
            return 100.0 * (cost(after) - cost(before)) / (time(after) - time(before));
        } finally {
            process.destroy();
            process.waitFor();
        }
    }

    private static Profile profile(Path session) throws Exception {
        try (SessionReader reader = SessionReader.open(session)) {
            return reader.profile();
        }
    }

    private static double cost(Profile profile) {
        return profile.probeNanos() + profile.session().costs().agentNanos();
    }

    private static double time(Profile profile) {
        return profile.session().elapsedNanos().orElseThrow();
    }
}
