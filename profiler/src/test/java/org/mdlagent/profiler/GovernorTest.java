package org.mdlagent.profiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/// A program for which rotations cost what the test says.
class GovernorTest {
    private static final double MILLI = 1e6;
    private static final double ROTATION = 10 * MILLI;

    private final SplittableRandom random = new SplittableRandom(1);

    @Test
    void shouldSpendTheBudgetAndNotMore() {
        for (double budget : new double[] {0.001, 0.01, 0.1, 0.4}) {
            Governor governor = new Governor(budget, 0);
            double cost = budget * 300 * MILLI;
            double time = 0;
            double spent = 0;
            double rest = 0;
            for (int i = 0; i < 1000; i++) {
                double passed = rest + ROTATION;
                double noisy = cost * (0.5 + random.nextDouble());
                time += passed;
                spent += noisy;
                rest = governor.rest(passed, noisy, ROTATION, random.nextDouble());
            }
            assertThat(spent / time).isBetween(0.97 * budget, 1.03 * budget);
        }
    }

    @Test
    void shouldAnswerDearerRotationsWithTheNextRest() {
        Governor governor = new Governor(0.01, 0);
        double rest = settle(governor, 1 * MILLI);

        double after = governor.rest(rest + ROTATION, 10 * MILLI, ROTATION, 0.5);

        assertThat(after).isGreaterThan(900 * MILLI); // 9 ms too much, of 1 % each
        assertThat(settle(governor, 1 * MILLI)).isBetween(85 * MILLI, 95 * MILLI);
    }

    @Test
    void shouldForgiveWhatIsSpentOnce() {
        Governor governor = new Governor(0.01, 0);
        settle(governor, 1 * MILLI);
        double rest = governor.rest(100 * MILLI, 10_000 * MILLI, ROTATION, 0.5);
        double blind = rest;
        for (int i = 0; i < 20; i++) {
            rest = governor.rest(rest + ROTATION, 1 * MILLI, ROTATION, 0.5);
            blind += rest;
        }
        assertThat(blind).isLessThanOrEqualTo(5_000 * MILLI);
        assertThat(rest).isBetween(50 * MILLI, 150 * MILLI);
    }

    @Test
    void shouldVaryRestsEvenly() {
        Governor governor = new Governor(0.01, 0);
        double mean = settle(governor, 1 * MILLI);
        assertThat(governor.rest(mean + ROTATION, 1 * MILLI, ROTATION, 0)).isBetween(0.45 * mean, 0.55 * mean);
        governor = new Governor(0.01, 0);
        settle(governor, 1 * MILLI);
        assertThat(governor.rest(mean + ROTATION, 1 * MILLI, ROTATION, 1)).isBetween(1.45 * mean, 1.55 * mean);
    }

    @Test
    void shouldRestEvenWhenNothingCosts() {
        assertThat(new Governor(0.01, 0).rest(ROTATION, 0, ROTATION, 0.5)).isEqualTo(50 * MILLI);
    }

    @Test
    void shouldNeverRestWhenAllOfTheTimeMayBeSpent() {
        assertThat(new Governor(1, 0).rest(ROTATION, 100 * MILLI, ROTATION, 0.5))
                .isZero();
    }

    @Test
    void shouldSpendFreelyAtFirst() {
        Governor governor = new Governor(0.01, 10 * MILLI);
        double spent = 0;
        while (governor.rest(ROTATION, 1 * MILLI, ROTATION, 0.5) == 0) {
            spent += 1 * MILLI;
        }
        assertThat(spent).isEqualTo(10 * MILLI);
    }

    private static double settle(Governor governor, double cost) {
        double rest = 0;
        for (int i = 0; i < 200; i++) {
            rest = governor.rest(rest + ROTATION, cost, ROTATION, 0.5);
        }
        return rest;
    }
}
