package org.mdlagent.profiler.sampled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.mdlagent.profiler.estimate.Confidence;

class CallEstimateTest {
    private static final int RUNS = 300;
    private static final int EPOCHS = 400;
    private static final int WINDOWS_PER_BLOCK = 4;

    /// An epoch is so many slots of time, of which the last is the window.
    private static final int SLOTS_PER_EPOCH = 20;

    private static final int SLOTS = EPOCHS * SLOTS_PER_EPOCH;
    private static final double SLOT_NANOS = 500_000;

    /// What a program does, slot by slot.
    ///
    /// @param nanos CPU time
    /// @param rates calls to be expected for each nanosecond of it
    private record Program(double[] nanos, double[] rates) {
        Program() {
            this(new double[SLOTS], new double[SLOTS]);
            Arrays.fill(nanos, SLOT_NANOS);
        }

        static Program constant(SplittableRandom random) {
            Program program = new Program();
            Arrays.fill(program.rates, perSlot(5));
            return program;
        }

        static Program twoPhases(SplittableRandom random) {
            Program program = new Program();
            int change = random.nextInt(SLOTS);
            boolean rising = random.nextBoolean();
            Arrays.fill(program.rates, 0, change, perSlot(rising ? 2 : 20));
            Arrays.fill(program.rates, change, SLOTS, perSlot(rising ? 20 : 2));
            return program;
        }

        /// A twentieth of the time is bursts, each of four slots on average.
        static Program bursts(SplittableRandom random) {
            Program program = new Program();
            boolean burst = false;
            for (int i = 0; i < SLOTS; i++) {
                burst = burst ? random.nextInt(4) != 0 : random.nextInt(76) == 0;
                program.rates[i] = perSlot(burst ? 40 : 0.1);
            }
            return program;
        }

        /// In half of the slots others have the processor nearly all the time.
        static Program littleCpu(SplittableRandom random) {
            Program program = new Program();
            Arrays.fill(program.rates, perSlot(8));
            for (int i = 0; i < SLOTS; i++) {
                program.nanos[i] *= random.nextBoolean() ? 1 : 0.1 * random.nextDouble();
            }
            return program;
        }

        private static double perSlot(double calls) {
            return calls / SLOT_NANOS;
        }
    }

    /// @param error    estimate less truth
    /// @param variance what the estimate says of itself
    private record Run(double error, double variance) {
        boolean covered() {
            return Math.abs(error) <= 1.96 * Math.sqrt(variance);
        }
    }

    static Stream<Named<Function<SplittableRandom, Program>>> programs() {
        return Stream.concat(programsWithoutBursts(), Stream.of(Named.of("bursts", Program::bursts)));
    }

    static Stream<Named<Function<SplittableRandom, Program>>> programsWithoutBursts() {
        return Stream.of(
                Named.of("constant rate", Program::constant),
                Named.of("two phases", Program::twoPhases),
                Named.of("windows with little CPU time", Program::littleCpu));
    }

    @Test
    void shouldAddUpExactCounts() {
        CallEstimate estimate = new CallEstimate();
        estimate.addExact(3, 1e9, 1e9);
        estimate.addExact(1L << 40, 2e9, 1e9);

        assertThat(estimate.calls(0)).isEqualTo((1L << 40) + 3.0);
        assertThat(estimate.calls(1e12)).isEqualTo((1L << 40) + 3.0);
        assertThat(estimate.variance(1e12)).isZero();
    }

    @Test
    void shouldAddExactCountsToBlocks() {
        CallEstimate estimate = new CallEstimate();
        estimate.addExact(7, 1000, 1000);
        estimate.startWindows(1000, 0.2, 50);
        estimate.addWindow(1500, 10, 1, 50);
        estimate.addWindow(2000, 30, 1, 50);
        estimate.endWindows(2000);
        estimate.addExact(5, 9000, 7000);

        assertThat(estimate.calls(9000)).isCloseTo(7 + 0.4 * 1000 + 5, within(1e-9));
        // Half the mean square of what successive windows differ by, the one before the first among them, for the part
        // of the time that was not seen; and so few differences that Student's distribution has 4/3 degrees of freedom.
        double varianceOfRate = (0 + 20 * 20) / 2.0 / 2 / (50 * 50);
        double wider = Confidence.quantile95(4.0 / 3) / 1.96;
        // Two windows tell nothing of what was between them.
        double unmet = 900 * (0.2 + 0.2 + 0.6) / 3 / 1.96;
        assertThat(estimate.variance(9000))
                .isCloseTo(0.9 * 1000 * 1000 / 2 * varianceOfRate * wider * wider + unmet * unmet, within(1e-6));
    }

    @Test
    void shouldKeepTheLastRateInBlocksWithoutWindows() {
        CallEstimate estimate = new CallEstimate();
        estimate.startWindows(0, 0.002, 100);
        assertThat(estimate.calls(1000)).isCloseTo(2, within(1e-9));
        estimate.addWindow(1000, 6, 1, 100);
        assertThat(estimate.calls(1000)).isCloseTo(60, within(1e-9));

        estimate.endBlock(1000);
        estimate.endBlock(1500);

        assertThat(estimate.windows()).isZero();
        assertThat(estimate.calls(2000)).isCloseTo(120, within(1e-9));
    }

    @Test
    void shouldKeepTheLastRateWhenWindowsSawNoCpuTime() {
        CallEstimate estimate = new CallEstimate();
        estimate.startWindows(0, 0.5, 100);
        estimate.addWindow(50, 0, 1, 0);
        estimate.addWindow(100, 0, 1, 0);

        assertThat(estimate.calls(100)).isCloseTo(50, within(1e-9));
        assertThat(1.96 * Math.sqrt(estimate.variance(100))).isCloseTo(50, within(1e-9));
    }

    /// Ten calls where there would have been fifteen.
    @Test
    void shouldNotTrustWhatWasPredicted() {
        CallEstimate estimate = blockOfAlikeWindows(0.15, 10, 1.5);

        assertThat(estimate.calls(10_000)).isCloseTo(1_500, within(1e-9));
        double unmet = 3.0 / 4 * 9600 * 0.15;
        assertThat(1.96 * Math.sqrt(estimate.variance(10_000))).isCloseTo(Math.hypot(0.6 * 500, unmet), within(1e-6));
    }

    /// A function that became hot, and that no window has met since.
    @Test
    void shouldNotBeCertainOfWhatWindowsHaveMissed() {
        CallEstimate estimate = blockOfAlikeWindows(0.5, 0, 1);

        assertThat(estimate.calls(10_000)).isZero();
        assertThat(1.96 * Math.sqrt(estimate.variance(10_000))).isGreaterThan(0.1 * 10_000);
    }

    /// A tenth of the time is a phase that none of twenty windows has met, as it happens in one program of eight.
    @Test
    void shouldReachAsFarAsAPhaseThatNoWindowHasMet() {
        CallEstimate estimate = new CallEstimate();
        estimate.startWindows(0, 2, 100);
        for (int i = 1; i <= 20; i++) {
            estimate.addWindow(i * 10_000, 0, 1, 100);
            if (estimate.windows() == WINDOWS_PER_BLOCK) {
                estimate.endBlock(i * 10_000);
            }
        }

        assertThat(1.96 * Math.sqrt(estimate.variance(200_000))).isGreaterThan(2 * 0.1 * 200_000);
    }

    /// However unlike the times between looks are, and wherever in them the function was not called at all.
    @Test
    void shouldKnowTheRateOfLate() {
        CallEstimate estimate = new CallEstimate();
        assertThat(estimate.lateRate(1e9)).isZero();
        SplittableRandom random = new SplittableRandom(3);
        double now = 5e9;
        for (int i = 0; i < 100; i++) {
            double nanos = random.nextDouble(1e6, 1e9);
            now += nanos;
            estimate.addExact(Math.round(nanos * 1e-3), now, nanos);
            assertThat(estimate.lateRate(now)).isCloseTo(1e-3, withinPercentage(1));
        }
        now += 1e9;
        assertThat(estimate.lateRate(now)).isCloseTo(1e-3 / Math.E, withinPercentage(1));
        estimate.addExact(10_000_000, now + 10e9, 10e9);
        assertThat(estimate.lateRate(now + 10e9)).isCloseTo(1e-3, withinPercentage(1));
        estimate.endWindows(now + 10e9);
        assertThat(estimate.lateRate(now + 11e9)).isZero();
        estimate.addExact(100_000, now + 20e9, 1e8);
        assertThat(estimate.lateRate(now + 20e9)).isCloseTo(1e-3, withinPercentage(1));
    }

    @Test
    void shouldTakeTheHighestRateSeenForTheMostWithoutAWindow() {
        CallEstimate estimate = new CallEstimate();
        estimate.addExact(1000, 5e6, 5e6);
        estimate.addExact(1000, 5.5e7, 5e7);
        estimate.startWindows(0, 1e-4, 100);

        assertThat(estimate.calls(5e8)).isCloseTo(52_000, within(1.0));
        assertThat(1.96 * Math.sqrt(estimate.variance(5e8))).isCloseTo(100_000, within(1000.0));
    }

    /// A server that waits at first is asked much then.
    @Test
    void shouldNotKnowTheRateOfALongTimeByThatOfAShortOne() {
        CallEstimate estimate = new CallEstimate();
        estimate.addExact(1000, 5e6, 5e6);
        estimate.startWindows(5e6, 1e-4, 100);

        assertThat(1.96 * Math.sqrt(estimate.variance(5.4e7))).isLessThan(10_000);
        assertThat(1.96 * Math.sqrt(estimate.variance(5.6e7))).isGreaterThan(500_000);
    }

    /// Its rate was that of the program's start, of few calls.
    @Test
    void shouldKnowNothingWithoutAWindow() {
        CallEstimate estimate = new CallEstimate();
        estimate.addExact(63, 1e6, 1e6);
        estimate.addExact(937, 1e6, 0);
        estimate.startWindows(0, 1e-4, 100);
        estimate.endBlock(5e8);

        assertThat(estimate.calls(1e9)).isCloseTo(101_000, within(1.0));
        assertThat(1.96 * Math.sqrt(estimate.variance(1e9))).isGreaterThan(9e6);
    }

    /// From 0 to 10,000 ns, in windows of 100 ns.
    private static CallEstimate blockOfAlikeWindows(double rateBefore, double counted, double slowdown) {
        CallEstimate estimate = new CallEstimate();
        estimate.startWindows(0, rateBefore, 100);
        for (int i = 0; i < WINDOWS_PER_BLOCK; i++) {
            estimate.addWindow(2500 * (i + 1), counted, slowdown, 100);
        }
        estimate.endBlock(10_000);
        return estimate;
    }

    /// As a governed profile of some seconds has them: windows that are far apart. Of bursts that all of them have
    /// missed nothing can be known.
    @ParameterizedTest
    @MethodSource("programsWithoutBursts")
    void shouldKnowItsErrorWhereThereAreFewWindows(Function<SplittableRandom, Program> programs) {
        int covered = 0;
        for (int seed = 0; seed < RUNS; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            int windows = 1 + seed % 8;
            covered +=
                    run(programs.apply(random), random, SLOTS / windows, false).covered() ? 1 : 0;
        }

        assertThat(covered).isGreaterThanOrEqualTo(RUNS * 80 / 100);
    }

    @Test
    void shouldBeCertainOfWhatWindowsSawWhole() {
        CallEstimate estimate = new CallEstimate();
        estimate.startWindows(0, 0, 50);
        estimate.addWindow(50, 1, 1, 50);
        estimate.addWindow(100, 9, 1, 50);

        assertThat(estimate.calls(100)).isCloseTo(10, within(1e-9));
        assertThat(estimate.variance(100)).isZero();
    }

    @ParameterizedTest
    @MethodSource("programs")
    void shouldBeUnbiasedAndKnowItsError(Function<SplittableRandom, Program> programs) {
        Run[] runs = simulate(programs, false);

        assertThat(biasInStandardErrors(runs)).isBetween(-3.0, 3.0);
        assertThat(Arrays.stream(runs).filter(Run::covered).count()).isGreaterThanOrEqualTo(RUNS * 85 / 100);
        // Nor by intervals that are too wide. Where bursts outlast a window, calls elsewhere in the block are less
        // uncertain than the windows tell, by two fifths.
        double squares =
                Arrays.stream(runs).mapToDouble(run -> run.error * run.error).sum();
        double variances = Arrays.stream(runs).mapToDouble(Run::variance).sum();
        assertThat(variances / squares).isBetween(0.7, 1.8);
    }

    /// A window stands for the epoch that it ends: a change of the rate, anywhere in a block, is taken to have come
    /// half an epoch before.
    @Test
    void shouldDateChangesHalfAnEpochEarlyOnAverage() {
        int block = WINDOWS_PER_BLOCK * SLOTS_PER_EPOCH;
        double slotsEarly = 0;
        for (int change = 0; change < block; change++) {
            CallEstimate estimate = new CallEstimate();
            estimate.startWindows(0, 0, 1);
            for (int slot = SLOTS_PER_EPOCH - 1; slot < block; slot += SLOTS_PER_EPOCH) {
                estimate.addWindow(slot + 1, slot < change ? 0 : 1, 1, 1);
            }
            slotsEarly += estimate.calls(block) - (block - change);
        }

        assertThat(slotsEarly / block).isCloseTo(SLOTS_PER_EPOCH / 2.0, within(1.0));
    }

    /// Of three windows at the begin, which met a phase of many calls, and one behind it.
    @Test
    void shouldWeighWindowsByTheTimeThatTheyStandFor() {
        CallEstimate estimate = new CallEstimate();
        estimate.startWindows(0, 1, 10);
        for (int now = 100; now <= 300; now += 100) {
            estimate.addWindow(now, 10, 1, 10);
        }
        estimate.addWindow(10_000, 0, 1, 10);
        estimate.endBlock(10_000);

        assertThat(estimate.calls(10_000)).isCloseTo(300, within(1e-9));
    }

    /// The broken twin: windows that depend on what happens in them.
    @Test
    void shouldBeBiasedWhenWindowsWithoutCallsAreLeftOut() {
        assertThat(biasInStandardErrors(simulate(Program::bursts, true))).isGreaterThan(10);
    }

    private static double biasInStandardErrors(Run[] runs) {
        double errors = Arrays.stream(runs).mapToDouble(Run::error).sum();
        double variances = Arrays.stream(runs).mapToDouble(Run::variance).sum();
        return errors / Math.sqrt(variances);
    }

    private static Run[] simulate(Function<SplittableRandom, Program> programs, boolean leaveOutEmptyWindows) {
        Run[] runs = new Run[RUNS];
        for (int seed = 0; seed < RUNS; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            runs[seed] = run(programs.apply(random), random, SLOTS_PER_EPOCH, leaveOutEmptyWindows);
        }
        return runs;
    }

    private static Run run(Program program, SplittableRandom random, int slotsPerEpoch, boolean leaveOutEmptyWindows) {
        CallEstimate estimate = new CallEstimate();
        estimate.startWindows(0, program.rates[0], SLOT_NANOS);
        double now = 0;
        long truth = 0;
        for (int slot = 0; slot < SLOTS; slot++) {
            int calls = poisson(random, program.rates[slot] * program.nanos[slot]);
            truth += calls;
            now += program.nanos[slot];
            boolean window = slot % slotsPerEpoch == slotsPerEpoch - 1;
            if (window && !(leaveOutEmptyWindows && calls == 0)) {
                estimate.addWindow(now, calls, 1, program.nanos[slot]);
                if (estimate.windows() == WINDOWS_PER_BLOCK) {
                    estimate.endBlock(now);
                }
            }
        }
        return new Run(estimate.calls(now) - truth, estimate.variance(now));
    }

    /// Knuth's method: how many uniform factors until their product is below e^-mean.
    private static int poisson(SplittableRandom random, double mean) {
        double limit = Math.exp(-mean);
        int count = 0;
        for (double product = random.nextDouble(); product > limit; product *= random.nextDouble()) {
            count++;
        }
        return count;
    }
}
