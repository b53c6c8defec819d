package org.mdlagent.profiler.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.profiler.figures.ProbeCost;
import org.mdlagent.profiler.policy.SlicePolicy.Slicing;

class SlicePolicyTest {
    private static final double TICKS_PER_NANO = 2.1;
    private static final ProbeCost COST = new ProbeCost(false);
    private static final double SWITCHING = 100;
    private static final double WAKING = 60e3;

    /// A program with functions whose rates fall off as Zipf's law has it.
    ///
    /// @param fastest calls in a second of its most frequent function
    private static double[] rates(int functions, double fastest) {
        return IntStream.rangeClosed(1, functions)
                .mapToDouble(rank -> fastest / rank / 1e9)
                .toArray();
    }

    private static SlicePolicy.Observation seen(double[] rates, double used) {
        return new SlicePolicy.Observation(
                IntStream.range(0, rates.length).toArray(),
                i -> rates[i],
                i -> COST.sliced(1e9 * rates[i]),
                i -> i < 10 ? 0.05 : 0,
                i -> true,
                Math.max(1, used),
                used,
                WAKING,
                SWITCHING);
    }

    private static double load(double[] rates, Slicing slicing) {
        return Arrays.stream(slicing.functions())
                .mapToDouble(i -> rates[i] * COST.sliced(1e9 * rates[i]) / TICKS_PER_NANO)
                .sum();
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.001, 0.01, 0.05, 0.2})
    void shouldKeepTheBudgetWhateverTheProgramCalls(double budget) {
        for (int functions : new int[] {1, 100, 2_000, 100_000}) {
            for (double fastest : new double[] {1e3, 1e6, 3e7}) {
                double[] rates = rates(functions, fastest);
                SlicePolicy policy = new SlicePolicy(COST, budget, TICKS_PER_NANO);

                SlicePolicy.Plan plan = policy.plan(seen(rates, 1));

                double counting = 0;
                double switching = 0;
                for (Slicing slicing :
                        new Slicing[] {plan.frequent(), plan.rare(), plan.dear(), plan.brief(), plan.others()}) {
                    if (slicing.functions().length > 0) {
                        double part = (SlicePolicy.SETTLING_NANOS + slicing.lengthNanos()) / slicing.periodNanos();
                        double on = part * slicing.step() / slicing.functions().length;
                        counting += on * load(rates, slicing) + (slicing.timed() ? part * SlicePolicy.TIMING_PART : 0);
                        int wakings = slicing.timed() ? SlicePolicy.TIME_WAKINGS : SlicePolicy.COUNT_WAKINGS;
                        switching += (wakings * WAKING + slicing.step() * SWITCHING) / slicing.periodNanos();
                    }
                }
                assertThat(counting)
                        .as("%,d functions, %,.0f calls/s", functions, fastest)
                        .isLessThan(0.6 * budget);
                assertThat(switching)
                        .as("%,d functions, %,.0f calls/s", functions, fastest)
                        .isLessThan(0.55 * budget);
            }
        }
    }

    @Test
    void shouldCountEachFunctionInOneSlicingAndTimeItInOne() {
        SlicePolicy.Plan plan = new SlicePolicy(COST, 0.01, TICKS_PER_NANO).plan(seen(rates(1_000, 2e7), 1));

        assertThat(IntStream.concat(
                                Arrays.stream(plan.frequent().functions()),
                                Arrays.stream(plan.rare().functions()))
                        .sorted())
                .containsExactlyElementsOf(IntStream.range(0, 1_000).boxed().toList());
        assertThat(plan.dear().functions()).hasSize(10);
        assertThat(plan.brief().functions().length + plan.others().functions().length)
                .isEqualTo(990);
        assertThat(plan.brief().functions()).hasSizeBetween(100, 980);
    }

    @Test
    void shouldNotSlowTheProgramDownMuchWhileItCounts() {
        double[] rates = rates(200, 3e7);

        Slicing frequent =
                new SlicePolicy(COST, 0.01, TICKS_PER_NANO).plan(seen(rates, 1)).frequent();

        // A function by itself may be more than what functions together shall be.
        double alone = load(rates, new Slicing(new int[] {0}, 1, false, 1, 1));
        for (int first = 0; first < frequent.functions().length; first += frequent.step()) {
            int[] on = Arrays.copyOfRange(
                    frequent.functions(), first, Math.min(first + frequent.step(), frequent.functions().length));
            double slowdown = load(rates, new Slicing(on, on.length, false, 1, 1));
            assertThat(slowdown).isLessThan(alone + 2 * SlicePolicy.LOAD_MAX);
        }
    }

    @Test
    void shouldCountFunctionsWhoseRateIsNotKnown() {
        double[] rates = {Double.NaN, 1e-3};

        SlicePolicy.Plan plan = new SlicePolicy(COST, 0.001, TICKS_PER_NANO).plan(seen(rates, 1));

        assertThat(plan.rare().functions()).containsExactly(0);
        assertThat(plan.rare().periodNanos()).isPositive().isFinite();
        assertThat(plan.frequent().functions()).containsExactly(1);
    }

    /// Their rates change by phases, and a phase may fall between two slices that are far apart.
    @Test
    void shouldSliceFewFunctionsOftenWhateverTheirRates() {
        double[] rates = rates(50, 1e5);

        SlicePolicy.Plan plan = new SlicePolicy(COST, 0.05, TICKS_PER_NANO).plan(seen(rates, 1));

        assertThat(plan.rare().functions()).isEmpty();
        assertThat(plan.frequent().functions()).hasSize(50);
    }

    @Test
    void shouldHaveNothingToDoWithoutFunctions() {
        SlicePolicy.Plan plan = new SlicePolicy(COST, 0.01, TICKS_PER_NANO).plan(seen(new double[0], 1));

        assertThat(plan.frequent().functions()).isEmpty();
        assertThat(plan.others().periodNanos()).isZero();
    }

    @Test
    void shouldTimeSomeCallsOfEachFunctionInASlice() {
        SlicePolicy policy = new SlicePolicy(COST, 0.01, TICKS_PER_NANO);
        Slicing slicing = new Slicing(new int[] {0}, 1, true, 20e6, 1e6);

        int often = policy.mean(slicing, 0.03, 1);
        int seldom = policy.mean(slicing, 1e-6, 1);

        assertThat(0.03 * 1e6 / often).isBetween(32.0, 256.0);
        assertThat(seldom).isEqualTo(2);
        assertThat(Integer.bitCount(often)).isOne();
    }

    /// Slices at random places of periods, in a program whose phases last 30 ms to 3 s.
    @Test
    void shouldEstimateCallsOfAProgramWithPhases() {
        SplittableRandom random = new SplittableRandom(1);
        double[] rates = rates(50, 2e7);
        Slicing slicing =
                new SlicePolicy(COST, 0.01, TICKS_PER_NANO).plan(seen(rates, 1)).frequent();
        double sum = 0;
        int runs = 200;
        for (int run = 0; run < runs; run++) {
            double phase = 30e6 * Math.pow(100, random.nextDouble());
            double seconds = 10e9;
            double in = 0;
            double calls = 0;
            double period = slicing.periodNanos() * Math.ceilDiv(slicing.functions().length, slicing.step());
            for (double begin = 0; begin + period < seconds; begin += period) {
                double at = begin + random.nextDouble() * (period - slicing.lengthNanos());
                in += slicing.lengthNanos();
                calls += (long) (at / phase) % 2 == 0 ? slicing.lengthNanos() : 0;
            }
            double truth = 0;
            for (double at = 0; at < seconds; at += 1e6) {
                truth += (long) (at / phase) % 2 == 0 ? 1e6 : 0;
            }
            sum += Math.abs(calls / in * seconds / truth - 1);
        }

        assertThat(sum / runs).isCloseTo(0, within(0.15));
    }
}
