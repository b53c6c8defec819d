package org.mdlagent.fastinst.snippet;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.layout.MetricDescriptor;
import org.mdlagent.arch.layout.MetricPoints;
import org.mdlagent.arch.layout.PointDescriptor;
import org.mdlagent.arch.shim.Memory;

/// A history of bounded length. Time stamps are counted in milliseconds here.
class MetricHistoryTest {
    private static final long MILLI = 1_000_000;

    private final Arena arena = Arena.ofConfined();
    private final long record =
            arena.allocate(MetricDescriptor.SIZE, Long.BYTES).address();
    private final MetricHistory history = new MetricHistory(record, 0);

    private record Point(long tsc, double amount) {}

    @AfterEach
    void free() {
        arena.close();
    }

    private List<Point> read() {
        long word = Memory.getLong(record + MetricDescriptor.HISTORY);
        List<Point> points = new ArrayList<>();
        for (int i = 0; i < MetricPoints.count(word); i++) {
            long at = record + MetricPoints.point(MetricPoints.half(word), i);
            points.add(new Point(
                    Memory.getLong(at + PointDescriptor.TSC),
                    Double.longBitsToDouble(Memory.getLong(at + PointDescriptor.AMOUNT))));
        }
        return points;
    }

    /// Each 10 ms, as the agent does; the amount is the square of the time.
    private void observeUntil(long millis) {
        for (long now = 0; now <= millis; now += 10) {
            if (history.isDue(now * MILLI)) {
                history.add(now * MILLI, now, (double) now * now);
            }
        }
    }

    @Test
    void shouldHaveAPointForEachInterval() {
        observeUntil(1_050);

        assertThat(read())
                .hasSize(10)
                .startsWith(new Point(100, 10_000), new Point(200, 40_000))
                .endsWith(new Point(1_000, 1_000_000));
    }

    @Test
    void shouldMakeOneIntervalOfTwoWhenItIsFull() {
        observeUntil(24_000);
        assertThat(read()).hasSize(MetricDescriptor.HISTORY_POINTS);

        observeUntil(24_200);

        assertThat(read())
                .hasSize(MetricDescriptor.HISTORY_POINTS / 2 + 1)
                .startsWith(new Point(200, 40_000), new Point(400, 160_000))
                .endsWith(new Point(24_000, 24_000.0 * 24_000), new Point(24_100, 24_100.0 * 24_100));
    }

    @Test
    void shouldSpanADayInBoundedRoom() {
        long day = 86_400_000;
        for (long now = 0; now <= day; now += 1_000) {
            if (history.isDue(now * MILLI)) {
                history.add(now * MILLI, now, now);
            }
        }

        List<Point> points = read();
        assertThat(points)
                .hasSizeBetween(MetricDescriptor.HISTORY_POINTS / 2, MetricDescriptor.HISTORY_POINTS)
                .isSortedAccordingTo((a, b) -> Long.compare(a.tsc, b.tsc));
        assertThat(points.getLast().tsc).isGreaterThan(day - day / 100);
        assertThat(points.getFirst().tsc).isLessThan(day / 100);
    }

    @Test
    void shouldLeaveOutIntervalsThatWereMissed() {
        history.add(450 * MILLI, 450, 1);

        assertThat(history.isDue(499 * MILLI)).isFalse();
        assertThat(history.isDue(500 * MILLI)).isTrue();
        assertThat(read()).containsExactly(new Point(450, 1));
    }
}
