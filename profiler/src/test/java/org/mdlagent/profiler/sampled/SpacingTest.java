package org.mdlagent.profiler.sampled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class SpacingTest {
    private static final double BUDGET = 0.01;

    private static final double NANOS_MIN = 200e6;
    private static final double NANOS_MAX = 2e9;

    private final Spacing looks = new Spacing(BUDGET, NANOS_MIN, NANOS_MAX);

    private void look(int times, double nanos) {
        for (int i = 0; i < times; i++) {
            looks.end(nanos);
        }
    }

    @Test
    void shouldTakeAFifthOfTheBudget() {
        look(100, 740e3);
        assertThat(0.8e6 / looks.nanosBetween(1)).isCloseTo(BUDGET / 5, within(1e-4));
        assertThat(looks.nanosBetween(0.5)).isCloseTo(2 * looks.nanosBetween(1), within(1.0));
    }

    @Test
    void shouldStayWithinTheTimesThatAreSensible() {
        look(100, 100e3);
        assertThat(looks.nanosBetween(1)).isEqualTo(NANOS_MIN);
        look(100, 1e9);
        assertThat(looks.nanosBetween(1)).isEqualTo(NANOS_MAX);
    }

    @Test
    void shouldNotBelieveOneLookThatLostItsProcessor() {
        look(100, 740e3);
        double before = looks.nanosBetween(1);
        look(1, 1e9);
        assertThat(looks.nanosBetween(1)).isLessThan(1.3 * before);
    }

    @Test
    void shouldNotWaitWhereNoBudgetLimitsIt() {
        Spacing free = new Spacing(1, NANOS_MIN, NANOS_MAX);
        free.end(1e9);
        assertThat(free.nanosBetween(0.1)).isEqualTo(NANOS_MIN);
    }
}
