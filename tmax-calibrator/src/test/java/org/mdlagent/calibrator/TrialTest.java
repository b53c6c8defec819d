package org.mdlagent.calibrator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The native program, on this machine.
class TrialTest {
    private static final Trial TRIAL = new Trial(Path.of("../native-shim/target/cmake/mdl-calibrate-trial"));
    private static final int ATTEMPTS = 50;

    /// Long, so that it holds on any machine.
    private static final long WAIT_TICKS = 100_000;

    private static int patcher;
    private static List<Integer> executors;

    @TempDir
    private Path directory;

    @BeforeAll
    static void chooseProcessors() throws IOException {
        Processors processors = Processors.ofProcess();
        assertThat(processors.list()).as("processors").hasSizeGreaterThan(1);
        patcher = processors.patcher().number();
        executors = processors.executors(2);
    }

    @Tag("timing")
    @Test
    void shouldMeasureLatencies() throws IOException {
        Trial.LatencyRun run = TRIAL.latency(200, 10_000, patcher, executors.getFirst());

        long samples = run.samples().stream().mapToLong(Trial.Sample::count).sum();
        assertThat(samples).isGreaterThan(100);
        assertThat(run.samples()).allMatch(sample -> sample.ticks() > 0);
        // Light needs a tick for each 11 cm; interruptions are left out.
        assertThat(run.samples().stream().mapToLong(Trial.Sample::ticks).min().orElseThrow())
                .isBetween(10L, 10_000L);
        assertThat(run.skewed()).isZero();
    }

    /// Every gap counts as an interruption then.
    @Tag("timing")
    @Test
    void shouldLeaveOutSamplesOfCoresThatWereInterrupted() throws IOException {
        Trial.LatencyRun run = TRIAL.latency(100, 0, patcher, executors.getFirst());

        assertThat(run.samples()).isEmpty();
        assertThat(run.interrupted()).isGreaterThan(100);
    }

    @Tag("timing")
    @ParameterizedTest
    @CsvSource({
        "LINE, 1", "LINE, 2", "LINE, 3", "LINE, 4", "PAGE, 1", "PAGE, 2", "PAGE, 3", "PAGE, 4",
    })
    void shouldFailWithoutInt3(Boundary boundary, int split) throws IOException {
        boolean failed = false;
        for (int attempt = 0; attempt < ATTEMPTS && !failed; attempt++) {
            failed = TRIAL.patch(false, boundary, split, 0, 200, patcher, executors)
                    .failed();
        }
        assertThat(failed).isTrue();
    }

    @Tag("timing")
    @ParameterizedTest
    @CsvSource({
        "LINE, 1",
        "LINE, 2",
        "LINE, 3",
        "LINE, 4",
        "PAGE, 1",
        "PAGE, 4",
        "QUADWORD, 1",
        "QUADWORD, 2",
        "QUADWORD, 4"
    })
    void shouldNotFailBehindInt3AfterALongWait(Boundary boundary, int split) throws IOException {
        Trial.PatchRun run = TRIAL.patch(true, boundary, split, WAIT_TICKS, 300, patcher, executors);

        assertThat(run.failed()).as(run.toString()).isFalse();
        assertThat(run.executions()).isGreaterThan(run.toggles());
        assertThat(run.traps()).as("executors that met INT3").isPositive();
    }

    @Test
    void shouldSayWhyATrialCouldNotRun() {
        assertThatThrownBy(() -> TRIAL.patch(true, Boundary.LINE, 5, 0, 1, patcher, executors))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("ended with 2: out of range");
        assertThatThrownBy(() -> TRIAL.latency(1, 1, 1 << 20, 0))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("ended with 1: sched_setaffinity: Invalid argument");
    }

    @Test
    void shouldNotTakeAKillFromOutsideForAWrongInstruction() throws IOException {
        Path killed = Files.writeString(
                directory.resolve("killed"),
                "#!/bin/sh\nprintf 'toggles 1\\nexecutions 1\\ntraps 1\\nwrong 0\\nsignal 9\\n'\n");
        Files.setPosixFilePermissions(killed, PosixFilePermissions.fromString("rwx------"));

        assertThatThrownBy(() -> new Trial(killed).patch(true, Boundary.LINE, 1, 0, 1, 0, List.of(1)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("killed from outside, by signal 9");
    }
}
