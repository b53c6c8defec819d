package org.mdlagent.profiler.sampled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.mdlagent.profiler.figures.Confidence;

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

    /// The reader extrapolates, because the rate of all time may become known only later.
    @Test
    void shouldTellHowMuchTimeWasNotSeen() {
        CallEstimate estimate = new CallEstimate(0);
        estimate.addExact(1_000_000, LOOK);
        assertThat(estimate.unseen()).isZero();

        estimate.addGap(LOOK);
        estimate.addGap(LOOK);
        assertThat(estimate.unseen()).isCloseTo(2, within(1e-9));
        assertThat(estimate.calls()).isCloseTo(1_000_000, within(1.0));
        assertThat(estimate.variance()).isZero();

        for (int i = 0; i < 19; i++) {
            estimate.addExact(0, LOOK);
        }
        assertThat(estimate.unseen()).isCloseTo(0.1, within(1e-9));
    }

    /// The thread has stopped it after 2 ms of a burst.
    @Test
    void shouldGuessTheCallsAfterAStopFromTheTimeBeforeIt() {
        CallEstimate estimate = new CallEstimate(5e9);
        estimate.addExact(10_000, 2e6);
        estimate.addStop(10_000, 2e6, 4e6);

        assertThat(estimate.calls()).isCloseTo(30_000, within(1.0));
        assertThat(Math.sqrt(estimate.variance()) * Confidence.QUANTILE_95).isCloseTo(20_000, within(1.0));
    }

    /// It is called in the same short burst each second, and no slice meets another one.
    @Test
    void shouldBoundBurstsThatNoSliceMetByTheRateOfTheOneThatWasCounted() {
        CallEstimate estimate = new CallEstimate(0);
        estimate.addExact(0, 1e9);
        estimate.addExact(20_000, 10e6);
        estimate.startSlices(Double.NaN);
        for (int i = 0; i < 40; i++) {
            estimate.addSlices(LOOK, 0, 5, IN_SLICES, 0);
        }

        double bursts = 40 * LOOK / 1e9;
        assertThat(Math.sqrt(estimate.variance()) * Confidence.QUANTILE_95).isGreaterThan(20_000 * bursts);
    }

    @Test
    void shouldKnowNothingOfAFunctionThatWasNeverSeen() {
        CallEstimate estimate = new CallEstimate(0);
        estimate.addGap(LOOK);

        assertThat(estimate.unseen()).isInfinite();
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

    /// In the first slices counting took nearly all of the time.
    @Test
    void shouldNotDoubtAllForAFewSaturatedSlices() {
        CallEstimate estimate = new CallEstimate(0);
        estimate.startSlices(Double.NaN);
        estimate.addSlices(LOOK, 20_000, 5, IN_SLICES, 1.1 * IN_SLICES);

        for (int i = 0; i < 30; i++) {
            estimate.addSlices(LOOK, 20_000, 5, IN_SLICES, 0);
        }

        double truth = 0.01 * 31 * LOOK;
        assertThat(estimate.calls()).isCloseTo(truth, within(0.01 * truth));
        assertThat(Math.sqrt(estimate.variance()) * Confidence.QUANTILE_95).isLessThan(0.1 * truth);
    }

    /// The function is called in the first slices only, and they are all that is known of it.
    @Test
    void shouldCountABurstInSaturatedSlices() {
        CallEstimate estimate = new CallEstimate(0);
        estimate.startSlices(Double.NaN);
        estimate.addSlices(LOOK, 20_000, 5, IN_SLICES, 1.1 * IN_SLICES);

        for (int i = 0; i < 30; i++) {
            estimate.addSlices(LOOK, 0, 5, IN_SLICES, 0);
        }

        assertThat(estimate.calls()).isCloseTo(0.01 * LOOK, within(1.0));
        assertThat(Math.sqrt(estimate.variance()) * Confidence.QUANTILE_95).isGreaterThan(0.99 * 0.01 * LOOK);
    }

    /// Calls come by chance, in phases whose rates differ four times.
    @Test
    void shouldContainTheTruthInNineteenOfTwentyIntervals() {
        assertThat(outside(8, 0.0005, 4, 0.3).missed).isLessThan(RUNS / 20);
    }

    /// The function is called in a tenth of the time, in bursts of two looks, and its rate differs from one
    /// slice to the next as much as its mean: the distribution of estimates is skewed, so some more are missed.
    @Test
    void shouldContainTheTruthOfBursts() {
        assertThat(outside(2, 0.02, 20, 1).missed).isLessThan(RUNS / 15);
    }

    /// Phases that are longer than a look are no error: each has slices of its own.
    @Test
    void shouldKnowPhasesFromChance() {
        assertThat(outside(8, 0.0005, 4, 0.02).width).isLessThan(0.03);
    }

    private static final int RUNS = 400;
    private static final int SLICES = 10;

    private record Outcome(int missed, double width) {}

    /// @param phase  mean length of a phase, in looks
    /// @param unit   calls per nanosecond in a phase: once to `rates` times this; if there are more than four
    ///               rates, 0 but for the lowest two
    /// @param spread standard deviation of the rate of a slice, relative to the mean
    private static Outcome outside(int phase, double unit, int rates, double spread) {
        SplittableRandom random = new SplittableRandom(7);
        int missed = 0;
        double width = 0;
        for (int run = 0; run < RUNS; run++) {
            CallEstimate estimate = new CallEstimate(0);
            estimate.startSlices(unit);
            double truth = 0;
            double rate = unit;
            double before = Double.NaN;
            for (int look = 0; look < 60; look++) {
                double squares = 0;
                int pairs = 0;
                double met = 0;
                double in = IN_SLICES / SLICES;
                for (int slice = 0; slice < SLICES; slice++) {
                    if (random.nextInt(phase * SLICES) == 0) {
                        int drawn = random.nextInt(rates);
                        rate = rates > 4 && drawn > 1 ? 0 : unit * (1 + drawn);
                    }
                    // What is outside the slice has the mean of the phase.
                    double calls = rate * in * (1 + spread * (-Math.log(1 - random.nextDouble()) - 1));
                    truth += rate * (LOOK / SLICES - in) + calls;
                    met += calls;
                    if (!Double.isNaN(before)) {
                        squares += Math.pow(calls / in - before, 2) / (2 / in);
                        pairs++;
                    }
                    before = calls / in;
                }
                estimate.addSpread(squares, pairs);
                estimate.addSlices(LOOK, Math.round(met), SLICES, IN_SLICES, 0);
            }
            double half = Math.sqrt(estimate.variance()) * Confidence.QUANTILE_95;
            missed += Math.abs(estimate.calls() - truth) > half ? 1 : 0;
            width += half / truth / RUNS;
        }
        return new Outcome(missed, width);
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
