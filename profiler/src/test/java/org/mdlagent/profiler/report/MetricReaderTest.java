package org.mdlagent.profiler.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.arch.layout.MetricDescriptor;
import org.mdlagent.arch.layout.ValueDescriptor;

/// What threads have measured, made into one value. One tick is one nanosecond; now is 2,000,005,000.
class MetricReaderTest {
    private static final long NOW = 2_000_005_000L;

    @TempDir
    private Path directory;

    private final SessionImage image = new SessionImage();

    @BeforeEach
    void threads() {
        long first = image.thread(5);
        long second = image.thread(6);
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
        image.metric("cpu", ValueDescriptor.KIND_PROCESS_TIMER, 4, MetricDescriptor.UNITS_AMOUNT, 0);

        assertThat(read())
                .extracting(MetricValue::value)
                .containsExactly(OptionalDouble.of(1.5), OptionalDouble.of(0.5));
    }

    @Test
    void shouldDivideARateByTheTimeSinceItWasEnabled() throws IOException {
        long metric = image.metric("m", ValueDescriptor.KIND_COUNTER, 1, MetricDescriptor.UNITS_RATE, 0);
        image.putLong(metric + MetricDescriptor.SINCE_TSC, NOW - 500_000_000);

        assertThat(read().getFirst().value()).hasValue(80);
    }

    @Test
    void shouldLeaveOutWhatIsOff() throws IOException {
        long metric = image.metric("m", ValueDescriptor.KIND_COUNTER, 1, MetricDescriptor.UNITS_AMOUNT, 0);
        image.putInt(metric + MetricDescriptor.STATE, MetricDescriptor.STATE_OFF);

        assertThat(read()).isEmpty();
    }

    @Test
    void shouldRefuseADamagedFile() {
        image.metric("m", ValueDescriptor.KIND_COUNTER, 4096, MetricDescriptor.UNITS_AMOUNT, 0);

        assertThatThrownBy(this::read)
                .isInstanceOf(SessionFormatException.class)
                .hasMessageContaining("value 4096");
    }
}
