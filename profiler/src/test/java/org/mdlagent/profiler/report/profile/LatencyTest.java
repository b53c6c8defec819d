package org.mdlagent.profiler.report.profile;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The library is the truth: our percentiles are its percentiles.
class LatencyTest {
    private static final long HIGHEST = (1L << 53) - 1;

    private static long anyDuration(SplittableRandom random) {
        return random.nextLong(HIGHEST + 1) >>> random.nextInt(54);
    }

    @Test
    void shouldGiveThePercentilesOfTheLibraryWithinTheExtremes() {
        SplittableRandom random = new SplittableRandom(2);
        for (int round = 0; round < 200; round++) {
            Histogram library = new Histogram(1, HIGHEST, 2);
            LatencyBuilder builder = new LatencyBuilder();
            long min = Long.MAX_VALUE;
            long max = 0;
            for (int i = random.nextInt(1, 500); i > 0; i--) {
                long ticks = anyDuration(random);
                library.recordValue(ticks);
                builder.add(ticks);
                min = Math.min(min, ticks);
                max = Math.max(max, ticks);
            }
            Latency latency = builder.build(1);
            for (double percentile : new double[] {0, 1, 25, 50, 90, 99, 99.9, 100}) {
                long expected = Math.clamp(library.getValueAtPercentile(percentile), min, max);
                if (percentile == 0) {
                    // The library answers with the lower end of a slot here, and here only.
                    assertThat(latency.percentileTicks(0)).isBetween(min, library.highestEquivalentValue(min));
                } else {
                    assertThat(latency.percentileTicks(percentile)).isEqualTo(expected);
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"50, 2", "90, 10", "99, 100", "99.9, 1000"})
    void shouldGiveNoPercentileOfASampleBeyondWhichThereIsNoCall(double percentile, int least) {
        LatencyBuilder builder = new LatencyBuilder();
        for (int i = 0; i < 10_000; i++) {
            builder.add(i);
        }
        Latency latency = builder.build(1);

        assertThat(latency.percentileNanos(percentile, least - 1)).isEmpty();
        assertThat(latency.percentileNanos(percentile, least)).isEqualTo(latency.percentileNanos(percentile));
    }

    @Test
    void shouldSpreadEveryDurationOnce() {
        LatencyBuilder builder = new LatencyBuilder();
        for (long ticks : new long[] {1, 5, 50, 500, 5_000, 5_000, 1_000_000}) {
            builder.add(ticks);
        }
        assertThat(builder.build(1).spread(new double[] {10, 100, 1_000, 10_000}))
                .containsExactly(3, 1, 3);
    }

    @Test
    void shouldOfferTheLibrarysHistogramInNanoseconds() {
        LatencyBuilder builder = new LatencyBuilder();
        builder.add(200);
        builder.add(200);
        builder.add(100_000);

        Histogram histogram = builder.build(0.5).histogram();

        assertThat(histogram.getTotalCount()).isEqualTo(3);
        assertThat(histogram.getCountAtValue(100)).isEqualTo(2);
        assertThat(histogram.getCountAtValue(50_000)).isEqualTo(1);
    }

    @Test
    void shouldBeTheDifferenceToAnEarlierState() {
        SplittableRandom random = new SplittableRandom(4);
        LatencyBuilder all = new LatencyBuilder();
        LatencyBuilder late = new LatencyBuilder();
        for (int i = 0; i < 1000; i++) {
            all.add(anyDuration(random));
        }
        Latency earlier = all.build(1);
        for (int i = 0; i < 500; i++) {
            long ticks = anyDuration(random);
            all.add(ticks);
            late.add(ticks);
        }

        Latency difference = all.build(1).since(earlier);

        Latency truth = late.build(1);
        assertThat(difference.count()).isEqualTo(500);
        assertThat(difference.totalNanos()).isEqualTo(truth.totalNanos());
        for (double percentile : new double[] {1, 50, 90, 99}) {
            assertThat(difference.percentileNanos(percentile)).isEqualTo(truth.percentileNanos(percentile));
        }
        assertThat(earlier.since(earlier).known()).isFalse();
    }
}
