package org.mdlagent.calibrator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.cpu.Calibration;
import org.mdlagent.arch.cpu.CpuIdentity;
import org.mdlagent.calibrator.Processors.Pair;
import org.mdlagent.calibrator.Processors.Processor;

/// What `mdl calibrate` prints.
class CalibrationReportTest {
    private static final int COLUMNS = 80;
    private static final CpuIdentity CPU =
            new CpuIdentity("AuthenticAMD", 26, 2, 1, "AMD EPYC", "0x1000065", "KVMKVMKVM", true, 2_600_000_000L);

    private static String report(boolean failing) {
        List<Processor> processors = List.of(
                new Processor(0, 0, List.of(0, 2)),
                new Processor(1, 1, List.of(1)),
                new Processor(2, 0, List.of(0, 2)));
        VisibilityLatency latency = new VisibilityLatency();
        List<Pair> pairs =
                List.of(new Pair(processors.get(0), processors.get(1)), new Pair(processors.get(0), processors.get(2)));
        for (int round = 0; round < VisibilityLatency.ROUNDS; round++) {
            latency.addRound(
                    pairs,
                    List.of(
                            new Trial.LatencyRun(
                                    List.of(new Trial.Sample(600, 12_345_678), new Trial.Sample(1500 + round, 3)),
                                    123_456,
                                    0),
                            new Trial.LatencyRun(List.of(new Trial.Sample(1, 1), new Trial.Sample(150, 999)), 0, 0)));
        }
        CrashTest crashes = new CrashTest(new Trial(Path.of("none")), 8, 0, List.of(List.of(1, 2)));
        for (CrashTest.Row row : crashes.rows()) {
            crashes.addTwin(row, new CrashTest.Cell(98_765, row.split() != 4));
            for (long wait : CrashTest.WAITS) {
                crashes.add(row, wait, new CrashTest.Cell(999_999, failing && wait <= 400));
            }
        }
        Calibration calibration = new Calibration(
                CPU,
                "2026-01-01T00:00:00Z",
                8192,
                4,
                3000,
                crashes.failingWait(),
                latency.max(),
                latency.samples(),
                crashes.toggles(),
                6144,
                12_288);
        StringWriter text = new StringWriter();
        new CalibrationReport(calibration, new Processors(processors), latency, crashes).write(new PrintWriter(text));
        return text.toString();
    }

    @Test
    void shouldFitIntoATerminal() {
        assertThat(report(true).lines()).allMatch(line -> line.length() <= COLUMNS);
    }

    @Test
    void shouldShowEveryDistanceAndEveryRow() {
        String report = report(true);

        assertThat(report)
                .containsPattern("same core +10\\.0k +0 +150")
                .containsPattern("other socket +123M +1\\.23M +600 .* 1509\n")
                .contains("2 thread(s) execute it")
                .containsPattern(
                        "line +1\\|4 x 1\\.00M x 1\\.00M x 1\\.00M x 1\\.00M   1\\.00M   1\\.00M   1\\.00M   x 98\\.8k\n")
                .containsPattern("quadword 4\\|1 .* 98\\.8k\n")
                .contains("fails in 9 rows of 12, after 98.8k toggles at most");
    }

    @Test
    void shouldSayWhatTmaxRestsOn() {
        assertThat(report(true))
                .contains("T_max       8192 ticks, 3.2 us\n")
                .contains("highest failing wait 400, highest latency 1509;")
                .contains("no failure in 26999973 toggles at waits above 400:\n")
                .contains("rate below 1.1e-07 at 95 %")
                .contains("another run of this length: 6144 to 12288 ticks");
    }

    @Test
    void shouldSayWhenNothingFailed() {
        assertThat(report(false))
                .contains("no failure observed at any wait, highest latency 1509;")
                .contains("toggles at any wait:")
                .doesNotContain("x 1.00M");
    }

    @Test
    void shouldWriteCountsShort() {
        assertThat(List.of(0L, 999L, 1000L, 9_994L, 9_996L, 99_960L, 999_499L, 999_500L, 12_345_678_901L))
                .extracting(CalibrationReport::count)
                .containsExactly("0", "999", "1.00k", "9.99k", "10.0k", "100k", "999k", "1.00M", "12.3G");
    }
}
