package org.mdlagent.profiler.report.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.arch.layout.MetricDescriptor;
import org.mdlagent.arch.layout.MetricPoints;
import org.mdlagent.arch.layout.PointDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.layout.ValueDescriptor;
import org.mdlagent.profiler.report.file.SessionFormatException;
import org.mdlagent.profiler.report.profile.MetricValue;

/// What threads have measured, made into one value. One tick is one nanosecond; now is 2,000,005,000.
class MetricReaderTest {
    private static final long NOW = 2_000_005_000L;

    @TempDir
    private Path directory;

    private final SessionImage image = new SessionImage();
    private long running;

    @BeforeEach
    void threads() {
        long first = image.thread(5);
        long second = image.thread(6);
        running = second;
        image.thread(7); // It has not run a snippet.
        image.value(first, 1, 30);
        image.value(second, 1, 10);
        image.value(second, 2, 3);
        // A timer that has stopped, and one that runs.
        image.value(first, 4 + ValueDescriptor.TIMER_TOTAL, 500_000_000);
        image.value(second, 4 + ValueDescriptor.TIMER_NESTING, 1);
        image.value(second, 4 + ValueDescriptor.TIMER_START, NOW - 1_000_000_000);
    }

    private List<MetricValue> read() throws IOException {
        image.write(directory);
        try (SessionReader reader = SessionReader.open(directory)) {
            return reader.metrics();
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 40", "1, 10", "2, 30", "3, 20"})
    void shouldCombineThreadsByTheOperator(int combine, double expected) throws IOException {
        image.metric("m", ValueDescriptor.KIND_COUNTER, 1, MetricDescriptor.UNITS_AMOUNT, combine);

        assertThat(read().getFirst().value()).hasValue(expected);
    }

    @Test
    void shouldCountOneThreadAloneAndItsErrors() throws IOException {
        long metric = image.metric("m", ValueDescriptor.KIND_COUNTER, 1, MetricDescriptor.UNITS_AMOUNT, 0);
        image.putInt(metric + MetricDescriptor.TID, 6);
        image.putInt(metric + MetricDescriptor.ERRORS, 2);

        MetricValue value = read().getFirst();

        assertThat(value.value()).hasValue(10);
        assertThat(value.errors()).isEqualTo(3);
        assertThat(value.request()).isEqualTo("m@/Code/a.c@/Thread/5");
    }

    @Test
    void shouldAddWhatATimerIsMeasuring() throws IOException {
        image.metric("wall", ValueDescriptor.KIND_WALL_TIMER, 4, MetricDescriptor.UNITS_AMOUNT, 0);

        assertThat(read().getFirst().value()).hasValue(1.5);
    }

    @Test
    void shouldAddCpuTimeThatATimerIsMeasuring() throws IOException {
        image.metric("cpu", ValueDescriptor.KIND_PROCESS_TIMER, 4, MetricDescriptor.UNITS_AMOUNT, 0);
        image.value(running, 4 + ValueDescriptor.TIMER_START, 3_000_000_000L);
        image.putLong(running + ThreadDescriptor.CPU_NANOS, 2_999_999_999L);
        assertThat(read().getFirst().value())
                .as("its clock was not renewed since")
                .hasValue(0.5);

        image.putLong(running + ThreadDescriptor.CPU_NANOS, 3_250_000_000L);

        assertThat(read().getFirst().value()).hasValue(0.75);
    }

    @ParameterizedTest
    @CsvSource({"0, 60, 20", "1, 15, 20"})
    void shouldShowHowItHasGone(int unitsType, double first, double second) throws IOException {
        long metric = image.metric("m", ValueDescriptor.KIND_COUNTER, 1, unitsType, 0);
        image.putLong(metric + MetricDescriptor.SINCE_TSC, NOW - 1_000_000_000);
        image.putLong(metric + MetricDescriptor.HISTORY, MetricPoints.history(1, 3));
        point(metric, 0, NOW - 750_000_000, 15);
        point(metric, 1, NOW - 500_000_000, 20);
        point(metric, 2, NOW - 2_000_000_000, 99); // of the metric that had the record before

        assertThat(read().getFirst().series())
                .containsExactly(new MetricValue.Point(0.25, first), new MetricValue.Point(0.5, second));
    }

    private void point(long metric, int index, long tsc, double amount) {
        long at = metric + MetricPoints.point(1, index);
        image.putLong(at + PointDescriptor.TSC, tsc);
        image.putLong(at + PointDescriptor.AMOUNT, Double.doubleToLongBits(amount));
    }

    @Test
    void shouldRefuseADamagedHistory() {
        long metric = image.metric("m", ValueDescriptor.KIND_COUNTER, 1, MetricDescriptor.UNITS_AMOUNT, 0);
        image.putLong(metric + MetricDescriptor.HISTORY, MetricPoints.history(0, 241));

        assertThatThrownBy(this::read)
                .isInstanceOf(SessionFormatException.class)
                .hasMessageContaining("history has 241 points");
    }

    @Test
    void shouldTakeWhatTheKernelHasCountedFromTheMetric() throws IOException {
        long metric = image.metric("m", ValueDescriptor.KIND_EVENTS, 0, MetricDescriptor.UNITS_AMOUNT, 0);
        image.putInt(metric + MetricDescriptor.TID, 6);
        image.putLong(metric + MetricDescriptor.EVENTS, 1234);

        assertThat(read().getFirst().value()).hasValue(1234);
    }

    @Test
    void shouldDivideARateByTheTimeSinceItWasEnabled() throws IOException {
        long metric = image.metric("m", ValueDescriptor.KIND_COUNTER, 1, MetricDescriptor.UNITS_RATE, 0);
        image.putLong(metric + MetricDescriptor.SINCE_TSC, NOW - 500_000_000);

        assertThat(read().getFirst().value()).hasValue(80);
    }

    @Test
    void shouldAddWhatSnippetsHaveCostToTheOverhead() throws IOException {
        image.write(directory);
        try (SessionReader reader = SessionReader.open(directory)) {
            assertThat(reader.profile().probeNanos()).isZero();
        }
        image.value(running, ValueDescriptor.COST, 7_000);

        image.write(directory);
        try (SessionReader reader = SessionReader.open(directory)) {
            assertThat(reader.profile().probeNanos()).isEqualTo(7_000);
        }
    }

    @Test
    void shouldLeaveOutWhatIsOff() throws IOException {
        long metric = image.metric("m", ValueDescriptor.KIND_COUNTER, 1, MetricDescriptor.UNITS_AMOUNT, 0);
        image.putInt(metric + MetricDescriptor.STATE, MetricDescriptor.STATE_OFF);

        assertThat(read()).isEmpty();
    }

    @Test
    void shouldRefuseADamagedFile() {
        image.metric("m", ValueDescriptor.KIND_COUNTER, ValueDescriptor.VALUES, MetricDescriptor.UNITS_AMOUNT, 0);

        assertThatThrownBy(this::read)
                .isInstanceOf(SessionFormatException.class)
                .hasMessageContaining("value " + ValueDescriptor.VALUES);
    }
}
