package org.mdlagent.profiler.sampled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.mdlagent.profiler.estimate.Confidence;

class CallEstimateTest {
    private static final double LOOK = 200e6;
    private static final double IN_SLICES = 2e6;

    @Test
    void shouldCountExactlyWhileProbesStayOn() {
        CallEstimate estimate = new CallEstimate(0);

        estimate.addExact(1_000, LOOK);
        estimate.addExact(2_000, LOOK);

        assertThat(estimate.calls()).isEqualTo(3_000);
        assertThat(estimate.variance()).isZero();
        assertThat(estimate.isSliced()).isFalse();
    }

    @Test
    void shouldScaleCallsInSlicesByTheCpuTime() {
        CallEstimate estimate = new CallEstimate(0);
        estimate.addExact(100, LOOK);
        estimate.startSlices(Double.NaN);

        for (int i = 0; i < 50; i++) {
            estimate.addSlices(LOOK, 20_000, 5, IN_SLICES, 0);
        }

        assertThat(estimate.calls()).isCloseTo(100 + 50 * 20_000 * LOOK / IN_SLICES, within(1.0));
        assertThat(estimate.rate()).isCloseTo(0.01, within(1e-6));
    }

    @Test
    void shouldNotLetASliceWithoutAProcessorDecide() {
        CallEstimate estimate = new CallEstimate(0);
        estimate.startSlices(0.01);

        estimate.addSlices(LOOK, 500, 3, 10e3, 0);
        for (int i = 0; i < 10; i++) {
            estimate.addSlices(LOOK, 20_000, 5, IN_SLICES, 0);
        }

        assertThat(estimate.calls()).isCloseTo(11 * LOOK * 0.01, within(0.05 * 11 * LOOK * 0.01));
    }

    @Test
    void shouldTakeTheLastRateForAGapAndSayHowLittleThatIs() {
        CallEstimate estimate = new CallEstimate(0);
        estimate.addExact(1_000_000, LOOK);

        estimate.addGap(LOOK);

        assertThat(estimate.calls()).isCloseTo(2_000_000, within(1.0));
        assertThat(Math.sqrt(estimate.variance()) * Confidence.QUANTILE_95).isCloseTo(1_000_000, within(1.0));
    }

    /// The program has just begun when the agent gets no processor, and probes go off.
    @Test
    void shouldNotExtrapolateTheFirstMillisecondsToALongGap() {
        CallEstimate estimate = new CallEstimate(0);
        estimate.addExact(1, 20e6);

        estimate.addGap(380e6);

        assertThat(estimate.calls()).isBetween(1.0, 2.0);
    }

    /// It has run on since, without a call.
    @Test
    void shouldFillAGapByTheRateOfAllTimeThatIsKnown() {
        CallEstimate estimate = new CallEstimate(0);
        estimate.addExact(1, 20e6);
        estimate.addGap(380e6);

        for (int i = 0; i < 50; i++) {
            estimate.addExact(0, LOOK);
        }

        assertThat(estimate.calls()).isCloseTo(1, within(0.05));
    }

    /// The function is called for the first time after three seconds, and becomes sliced then.
    @Test
    void shouldRestItsRateOnTheTimeBeforeTheFirstCall() {
        CallEstimate estimate = new CallEstimate(3e9);
        estimate.addExact(1, 20e6);
        estimate.startSlices(Double.NaN);

        estimate.addSlices(400e6, 0, 0, 0, 0);

        assertThat(estimate.rate()).isCloseTo(1 / 500e6, within(0.1 / 500e6));
        assertThat(estimate.calls()).isLessThan(2);
    }

    @Test
    void shouldBoundWhatWasCalledBeforeTheFirstSlice() {
        CallEstimate estimate = new CallEstimate(0);
        estimate.startSlices(Double.NaN);

        estimate.addSlices(LOOK, 0, 0, 0, 0);

        assertThat(estimate.rate()).isNaN();
        assertThat(Math.sqrt(estimate.variance()) * Confidence.QUANTILE_95).isGreaterThan(1e6);
    }

    /// Calls come by chance, in phases whose rates differ four times.
    @Test
    void shouldContainTheTruthInNineteenOfTwentyIntervals() {
        SplittableRandom random = new SplittableRandom(7);
        int runs = 400;
        int outside = 0;
        for (int run = 0; run < runs; run++) {
            CallEstimate estimate = new CallEstimate(0);
            estimate.startSlices(0.001);
            double truth = 0;
            double rate = 0.001;
            for (int look = 0; look < 60; look++) {
                if (random.nextInt(8) == 0) {
                    rate = 0.0005 * (1 + random.nextInt(4));
                }
                truth += rate * LOOK;
                double calls = rate * IN_SLICES * (1 + 0.3 * random.nextGaussian());
                estimate.addSlices(LOOK, Math.max(0, Math.round(calls)), 5, IN_SLICES, 0);
            }
            double half = Math.sqrt(estimate.variance()) * Confidence.QUANTILE_95;
            outside += Math.abs(estimate.calls() - truth) > half ? 1 : 0;
        }

        assertThat(outside).isLessThan(runs / 20);
    }

    @Test
    void shouldCountWhatNoSliceHasMetWhereItHadEnded() {
        CallEstimate estimate = new CallEstimate(0);
        estimate.startSlices(0.001);
        estimate.addSlices(LOOK, 2_000, 5, IN_SLICES, 0);
        estimate.addSlices(LOOK, 0, 0, 0, 0);

        estimate.endSlices();
        estimate.addExact(10, LOOK);

        assertThat(estimate.calls()).isCloseTo(2 * LOOK * 0.001 + 10, within(1.0));
        assertThat(estimate.isSliced()).isFalse();
    }

    /// Counting made the program three times as slow, and half of that was predicted.
    @Test
    void shouldAllowForCountingThatTakesLongerThanPredicted() {
        CallEstimate estimate = new CallEstimate(0);
        estimate.startSlices(Double.NaN);
        double predicted = IN_SLICES / 3;

        for (int i = 0; i < 50; i++) {
            estimate.addSlices(LOOK, 20_000, 5, IN_SLICES - predicted, predicted);
        }

        double truth = 50 * 20_000 * LOOK / IN_SLICES * 3;
        double half = Math.sqrt(estimate.variance()) * Confidence.QUANTILE_95;
        assertThat(truth).isBetween(estimate.calls(), estimate.calls() + half);
    }

    /// No more than there can be: a call takes some time.
    @Test
    void shouldNotAllowForMoreCallsThanThereCanBe() {
        CallEstimate estimate = new CallEstimate(0);
        estimate.startSlices(Double.NaN);

        for (int i = 0; i < 50; i++) {
            estimate.addSlices(LOOK, 1_000_000, 5, IN_SLICES, IN_SLICES);
        }

        double half = Math.sqrt(estimate.variance()) * Confidence.QUANTILE_95;
        assertThat(half).isCloseTo(50 * LOOK * (0.8 - 0.5), within(0.02 * 50 * LOOK));
    }
}
