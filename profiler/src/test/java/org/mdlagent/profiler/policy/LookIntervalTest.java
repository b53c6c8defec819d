package org.mdlagent.profiler.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LookIntervalTest {
    private static final double BUSY = 0.01;

    /// The intervals of a run, and the CPU time of its looks.
    private record Run(int looks, double spent) {}

    private static Run run(double from, double to, double cost, double income) {
        LookInterval interval = new LookInterval();
        int looks = 0;
        for (double age = LookInterval.FIRST_NANOS; age < to; age += interval.after(cost, age, income)) {
            looks += age >= from ? 1 : 0;
        }
        return new Run(looks, looks * cost);
    }

    @Test
    void shouldLookAtAShortProgramFromStartToEnd() {
        assertThat(run(0, 300e6, 500e3, BUSY).looks()).isBetween(4, 6);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.3e6, 0.7e6, 1e6})
    void shouldKeepItsShareOfTheBudget(double cost) {
        assertThat(run(100e9, 1000e9, cost, BUSY).spent())
                .isCloseTo(
                        Math.min(LookInterval.PART * BUSY, cost / LookInterval.USUAL_NANOS) * 900e9,
                        within(0.01 * 900e6));
    }

    /// A program that uses a tenth of a processor.
    @Test
    void shouldNeverBeLongerThanALeaseAllows() {
        assertThat(run(100e9, 200e9, 5e6, BUSY / 10).looks()).isCloseTo(100, within(1));
    }

    @Test
    void shouldNotLeaveMoreToExtrapolateThanAFewPercentOfTheRun() {
        LookInterval interval = new LookInterval();
        for (double age = LookInterval.FIRST_NANOS; age < 100e9; ) {
            double next = interval.after(2e6, age, BUSY / 10);
            if (age > 10e9) {
                assertThat(next).isLessThanOrEqualTo(LookInterval.AGE_PART * age);
            }
            age += next;
        }
    }

    /// A hundred thousand functions.
    @Test
    void shouldNotTakeUpAProcessorWhenLooksAreDear() {
        Run run = run(0, 10e9, 50e6, BUSY);

        assertThat(run.spent()).isLessThan(1.2 * LookInterval.EARLY_PART * 10e9);
    }

    @Test
    void shouldLookOftenAgainWhereThereAreNewProbes() {
        LookInterval interval = new LookInterval();
        for (int i = 0; i < 100; i++) {
            interval.after(300e3, 100e9, BUSY);
        }

        interval.restart();

        assertThat(interval.after(300e3, 100e9, BUSY)).isEqualTo(LookInterval.FIRST_NANOS);
    }
}
