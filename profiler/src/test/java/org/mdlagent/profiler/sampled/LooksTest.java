package org.mdlagent.profiler.sampled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class LooksTest {
    private static final double BUDGET = 0.01;

    private final Looks looks = new Looks(BUDGET);

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
        assertThat(looks.nanosBetween(1)).isEqualTo(SampledProfiler.LOOK_NANOS);
        look(100, 1e9);
        assertThat(looks.nanosBetween(1)).isEqualTo(1e9);
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
        Looks free = new Looks(1);
        free.end(1e9);
        assertThat(free.nanosBetween(0.1)).isEqualTo(SampledProfiler.LOOK_NANOS);
    }
}
