package org.mdlagent.profiler.sampled;

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
            Governor governor = settled(budget);
            double cost = budget * 300 * MILLI;
            double time = 0;
            double spent = 0;
            double rest = 0;
            for (int i = 0; i < 1000; i++) {
                double passed = rest + ROTATION;
                double noisy = cost * (0.5 + random.nextDouble());
                time += passed;
                spent += noisy;
                rest = governor.rest(passed, noisy, ROTATION, noisy, random.nextDouble());
            }
            assertThat(spent / time).isBetween(0.97 * budget, 1.03 * budget);
        }
    }

    @Test
    void shouldTakeOffWhatIsSpentBesides() {
        double budget = 0.01;
        Governor governor = settled(budget);
        double time = 0;
        double spent = 0;
        double rest = 0;
        for (int i = 0; i < 1000; i++) {
            double passed = rest + ROTATION;
            double all = 1 * MILLI + 0.6 * budget * passed;
            time += passed;
            spent += all;
            rest = governor.rest(passed, all, ROTATION, 1 * MILLI, random.nextDouble());
        }
        assertThat(spent / time).isBetween(0.9 * budget, 1.03 * budget);
    }

    @Test
    void shouldAnswerDearerRotationsWithTheNextRest() {
        Governor governor = settled(0.01);
        double before = settle(governor, 1 * MILLI);
        assertThat(before).isBetween(85 * MILLI, 95 * MILLI);

        double after = governor.rest(before + ROTATION, 10 * MILLI, ROTATION, 10 * MILLI, 0.5);

        assertThat(after).isGreaterThan(2 * before);
        assertThat(settle(governor, 10 * MILLI)).isBetween(900 * MILLI, 1100 * MILLI);
        assertThat(settle(governor, 1 * MILLI)).isBetween(85 * MILLI, 95 * MILLI);
    }

    /// A compiler that runs beside one of them, for instance.
    @Test
    void shouldNotTakeOneDearRotationForAll() {
        Governor governor = settled(0.01);
        double before = settle(governor, 1 * MILLI);
        governor.rest(before + ROTATION, 10 * MILLI, ROTATION, 10 * MILLI, 0.5);

        double after = governor.rest(500 * MILLI, 1 * MILLI, ROTATION, 1 * MILLI, 0.5);

        assertThat(after).isBetween(before, 1.3 * before);
    }

    @Test
    void shouldForgiveWhatIsSpentOnce() {
        Governor governor = settled(0.01);
        settle(governor, 1 * MILLI);
        double rest = governor.rest(100 * MILLI, 10_000 * MILLI, ROTATION, 1 * MILLI, 0.5);
        assertThat(rest).isLessThanOrEqualTo(400 * MILLI); // a quarter of the budget
        double passed = 0;
        while (passed < 10_000 * MILLI) {
            passed += rest + ROTATION;
            rest = governor.rest(rest + ROTATION, 1 * MILLI, ROTATION, 1 * MILLI, 0.5);
        }
        assertThat(rest).isBetween(50 * MILLI, 150 * MILLI);
    }

    @Test
    void shouldVaryRestsEvenly() {
        Governor governor = settled(0.01);
        double mean = settle(governor, 1 * MILLI);
        assertThat(governor.rest(mean + ROTATION, 1 * MILLI, ROTATION, 1 * MILLI, 0))
                .isBetween(0.45 * mean, 0.55 * mean);
        governor = settled(0.01);
        settle(governor, 1 * MILLI);
        assertThat(governor.rest(mean + ROTATION, 1 * MILLI, ROTATION, 1 * MILLI, 1))
                .isBetween(1.45 * mean, 1.55 * mean);
    }

    @Test
    void shouldRestEvenWhenNothingCosts() {
        assertThat(settled(0.01).rest(ROTATION, 0, ROTATION, 0, 0.5)).isEqualTo(50 * MILLI);
    }

    @Test
    void shouldNeverRestWhenAllOfTheTimeMayBeSpent() {
        assertThat(settled(1).rest(ROTATION, 100 * MILLI, ROTATION, 100 * MILLI, 0.5))
                .isZero();
        assertThat(new Governor(1).rest(ROTATION, 100 * MILLI, ROTATION, 100 * MILLI, 0.5))
                .isZero();
    }

    /// Whatever it costs, and not all of it at once.
    @Test
    void shouldLookOftenAtFirst() {
        Governor governor = new Governor(0.01);
        double time = 0;
        int rotations = 0;
        int rotationsInFirstTenth = 0;
        while (time < 1_000 * MILLI) {
            double passed = ROTATION;
            passed += governor.rest(passed, 10 * MILLI, ROTATION, 10 * MILLI, random.nextDouble());
            time += passed;
            rotations++;
            rotationsInFirstTenth += time < 100 * MILLI ? 1 : 0;
        }
        assertThat(rotations).isBetween(15, 40);
        assertThat(rotationsInFirstTenth).isLessThan(rotations / 2);
        // Nothing of it is held against later rotations.
        assertThat(settle(governor, 1 * MILLI)).isBetween(85 * MILLI, 95 * MILLI);
    }

    /// In its third second, without debts.
    private static Governor settled(double budget) {
        Governor governor = new Governor(budget);
        governor.rest(2_000 * MILLI, 0, ROTATION, 0, 0.5);
        return governor;
    }

    private static double settle(Governor governor, double cost) {
        double rest = 0;
        for (int i = 0; i < 400; i++) {
            rest = governor.rest(rest + ROTATION, cost, ROTATION, cost, 0.5);
        }
        return rest;
    }
}
