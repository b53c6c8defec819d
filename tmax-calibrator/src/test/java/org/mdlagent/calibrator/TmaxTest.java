package org.mdlagent.calibrator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.calibrator.Processors.Pair;
import org.mdlagent.calibrator.Processors.Processor;

/// What is concluded from measurements.
class TmaxTest {
    private static final CrashTest.Row LINE = new CrashTest.Row(Boundary.LINE, 1);
    private static final CrashTest.Row QUADWORD = new CrashTest.Row(Boundary.QUADWORD, 1);
    private static final Pair PAIR = new Pair(new Processor(0, 0, List.of(0)), new Processor(1, 0, List.of(1)));

    private static VisibilityLatency latencies(long... maxima) {
        VisibilityLatency latency = new VisibilityLatency();
        for (long max : maxima) {
            latency.addRound(
                    List.of(PAIR),
                    List.of(new Trial.LatencyRun(
                            List.of(new Trial.Sample(100, 1000), new Trial.Sample(max, 1)), 7, 0)));
        }
        return latency;
    }

    private static CrashTest crashes(long... failingWaits) {
        CrashTest crashes = new CrashTest(new Trial(Path.of("none")), 8, 0, List.of(List.of(1)));
        for (CrashTest.Row row : List.of(LINE, QUADWORD)) {
            crashes.addTwin(row, new CrashTest.Cell(5, true));
            for (long wait : CrashTest.WAITS) {
                boolean failed = row == LINE && LongStream.of(failingWaits).anyMatch(failing -> failing == wait);
                crashes.add(row, wait, new CrashTest.Cell(failed ? 3 : 1000, failed));
            }
        }
        return crashes;
    }

    /// The larger of the two counts, times four, rounded up to 2^n or 3 * 2^n, and at least the floor.
    @ParameterizedTest
    @CsvSource({
        "2000, 0,    8192", // latency
        "1500, 0,    6144",
        "1537, 0,    8192",
        "500,  3200, 16384", // failing wait
        "1,    0,    3000", // floor
    })
    void shouldBeTheLargerTimesAFactor(long latency, long failing, long expected) {
        assertThat(Tmax.of(latencies(latency), crashes(failing)).ticks()).isEqualTo(expected);
    }

    @Test
    void shouldNotBeZeroWhenNothingFailed() {
        CrashTest crashes = crashes();
        assertThat(crashes.failingWait()).isEqualTo(-1);

        assertThat(Tmax.of(latencies(10), crashes).ticks()).isEqualTo(Tmax.FLOOR_TICKS);
    }

    @Test
    void shouldRoundUpToFewValues() {
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 10_000; i++) {
            long ticks = random.nextLong(4, 1L << 40);
            long rounded = Tmax.roundedUp(ticks);

            assertThat(rounded).isGreaterThanOrEqualTo(ticks).isLessThan(ticks + ticks / 2 + 1);
            assertThat(Long.highestOneBit(rounded) + Long.lowestOneBit(rounded))
                    .as("2^n or 3 * 2^n")
                    .isIn(2 * rounded, rounded);
            assertThat(Tmax.roundedUp(rounded)).isEqualTo(rounded);
        }
    }

    /// Two calibrations whose maxima are drawn from one distribution, with the tail that is assumed.
    @Test
    void shouldAgreeWithAnotherCalibrationWithinItsBounds() {
        SplittableRandom random = new SplittableRandom(20161);
        int disagreements = 0;
        for (int i = 0; i < 10_000; i++) {
            Tmax first = Tmax.of(randomLatencies(random), crashes(400));
            Tmax second = Tmax.of(randomLatencies(random), crashes(400));
            if (second.ticks() < first.lowTicks() || second.ticks() > first.highTicks()) {
                disagreements++;
            }
        }
        assertThat(disagreements).as("of 10,000").isLessThan(100);
    }

    private static VisibilityLatency randomLatencies(SplittableRandom random) {
        long[] maxima = new long[VisibilityLatency.ROUNDS];
        for (int i = 0; i < maxima.length; i++) {
            maxima[i] = 1000 - (long) (200 * Math.log(-Math.log(random.nextDouble(1e-9, 1))));
        }
        return latencies(maxima);
    }

    @Test
    void shouldKeepALowBoundAboveTheFloorAndBothAroundItself() {
        for (long latency : new long[] {1, 700, 1000, 5000, 100_000}) {
            Tmax tmax = Tmax.of(latencies(latency), crashes());

            assertThat(tmax.lowTicks()).isBetween(Tmax.FLOOR_TICKS, tmax.ticks());
            assertThat(tmax.highTicks()).isGreaterThan(tmax.ticks());
        }
    }

    @Test
    void shouldCountTogglesAboveTheFailingWaitOnly() {
        CrashTest crashes = crashes(0, 400);

        assertThat(crashes.failingWait()).isEqualTo(400);
        // 800, 1600 and 3200 ticks in two rows.
        assertThat(crashes.toggles()).isEqualTo(6000);
    }

    @Test
    void shouldNotCountTogglesOfARowWhoseTwinDidNotFail() {
        CrashTest crashes = crashes(0, 400);
        crashes.addTwin(QUADWORD, new CrashTest.Cell(1_000_000, false));

        assertThat(crashes.toggles()).isEqualTo(3000);
        assertThat(crashes.togglesOfTwins()).containsExactly(5L);
    }

    @Test
    void shouldTryLongerWaitsUntilOneDoesNotFail() throws CalibrationFailure {
        assertThat(crashes(0, 1600).nextWait()).isZero();

        CrashTest crashes = crashes(3200);
        assertThat(crashes.nextWait()).isEqualTo(6400);
        crashes.add(LINE, 6400, new CrashTest.Cell(1000, false));
        assertThat(crashes.nextWait()).isZero();
    }

    @Test
    void shouldGiveUpWhereEveryWaitFails() {
        CrashTest crashes = crashes(3200);
        crashes.add(LINE, 1 << 20, new CrashTest.Cell(1, true));

        assertThatThrownBy(crashes::nextWait)
                .isInstanceOf(CalibrationFailure.class)
                .hasMessageContaining("still fails after a wait of 1048576 ticks");
    }

    @Test
    void shouldTestStraddlersOfTheAtomicUnitOnly() {
        assertThat(new CrashTest(new Trial(Path.of("none")), 64, 0, List.of(List.of(1))).rows())
                .hasSize(8)
                .noneMatch(row -> row.boundary() == Boundary.QUADWORD);
        assertThat(new CrashTest(new Trial(Path.of("none")), 8, 0, List.of(List.of(1))).rows())
                .hasSize(12);
    }
}
