package org.mdlagent.profiler.tier;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.site.RecordingTicks;
import org.mdlagent.profiler.figures.ProbeCost;

class TierChoiceTest {
    /// One percent of a thread of 2.5 GHz.
    private static final double INCOME = 25e6;

    private static final int ROOM = 1_000_000;

    private final ProbeCost cost = new ProbeCost(false);
    private final TierChoice choice = new TierChoice(cost, TierChoice.EXACT_PART);

    private int[] chosen(int[] means, double... rates) {
        int[] chosen = means.clone();
        choice.choose(rates, new double[rates.length], chosen, INCOME, 1, ROOM);
        return chosen;
    }

    private int[] chosen(double... rates) {
        return chosen(new int[rates.length], rates);
    }

    @Test
    void shouldTimeWhatIsRareCountWhatIsFrequentAndLeaveTheRestToWindows() {
        int[] means = chosen(50e6, 10, 20_000, 250_000, 30_000);

        assertThat(means).containsExactly(TierChoice.SLICED, TierChoice.EXACT, TierChoice.EXACT, 256, 32);
    }

    @Test
    void shouldNotSpendMoreThanItsPartsWhateverTheRates() {
        double[] rates = new double[3000];
        for (int i = 0; i < rates.length; i++) {
            rates[i] = Math.pow(1.006, i);
        }

        int[] means = chosen(rates);

        double exact = 0;
        double counted = 0;
        double warm = 0;
        for (int i = 0; i < rates.length; i++) {
            exact += means[i] == TierChoice.EXACT ? cost.exact(rates[i]) * rates[i] : 0;
            if (means[i] > TierChoice.EXACT) {
                counted += cost.counted(rates[i]) * rates[i];
                warm += (RecordingTicks.COUNTED + cost.timedByChance(1.0 / means[i])) * rates[i];
            }
        }
        assertThat(exact).isBetween(0.05 * INCOME, 0.3 * INCOME);
        assertThat(counted).isPositive();
        assertThat(exact + counted).isLessThan(0.65 * INCOME);
        assertThat(exact + warm).as("with calls that are timed").isLessThan(0.55 * INCOME);
        // The cheapest first.
        int[] order = Arrays.stream(means)
                .map(mean -> mean == TierChoice.SLICED ? Integer.MAX_VALUE : mean)
                .toArray();
        assertThat(order).isSorted();
    }

    /// Twenty thousand functions of no account take all of the budget by themselves.
    @Test
    void shouldPreferFunctionsThatTakeMuchOfTheTime() {
        double[] rates = new double[20_003];
        Arrays.fill(rates, 100);
        double[] shares = new double[rates.length];
        rates[20_000] = 14_000;
        shares[20_000] = 0.014;
        rates[20_001] = 200_000;
        shares[20_001] = 0.02;
        rates[20_002] = 300_000;
        shares[20_002] = 0.1;
        int[] means = new int[rates.length];

        choice.choose(rates, shares, means, INCOME, 1, ROOM);

        assertThat(means[20_000]).isEqualTo(TierChoice.EXACT);
        assertThat(means[20_001]).isGreaterThan(TierChoice.EXACT);
        assertThat(means[20_002]).isGreaterThan(TierChoice.EXACT);
        assertThat(means[0]).isNotEqualTo(TierChoice.SLICED);
        assertThat(means[19_999]).isEqualTo(TierChoice.SLICED);
    }

    /// Were each of them worth what one of a few is, all that there is would go to these.
    @Test
    void shouldCountAFunctionWithMuchOfTheTimeBeforeThousandsOfRareOnes() {
        double[] rates = new double[40_000];
        double[] shares = new double[rates.length];
        Arrays.fill(rates, 27);
        Arrays.fill(shares, 2.7e-6);
        rates[7] = 59_000;
        shares[7] = 0.03;
        int[] chosen = new int[rates.length];

        choice.choose(rates, shares, chosen, INCOME, 1, ROOM);

        assertThat(chosen[7]).isPositive();
    }

    @Test
    void shouldTimeSomeHundredCallsOfACountedFunctionEachSecond() {
        int[] means = chosen(250_000);

        assertThat(250_000.0 / means[0]).isBetween(500.0, 2000.0);
    }

    @Test
    void shouldLeaveFunctionsThatAreNotCalledOrNotFreeWhereTheyAre() {
        int[] means = chosen(new int[] {TierChoice.SLICED, 7, TierChoice.EXACT}, 0, 0, -1);

        assertThat(means).containsExactly(TierChoice.SLICED, 7, TierChoice.EXACT);
    }

    @Test
    void shouldNotMoveFunctionsToAndFroWhoseRatesVaryALittle() {
        double[] rates = new double[100];
        Arrays.setAll(rates, i -> 100.0 * i * i);
        int[] means = chosen(rates);
        int moves = 0;

        for (double part : new double[] {0.95, 1.05, 0.92, 1.08, 0.9, 1.1, 0.92, 1.08}) {
            int[] before = means.clone();
            means = chosen(means, Arrays.stream(rates).map(rate -> part * rate).toArray());
            moves += Arrays.mismatch(means, before) < 0 ? 0 : 1;
        }

        // The rates' first fall lets some more in, who stay.
        assertThat(moves).isLessThanOrEqualTo(3);
    }

    @Test
    void shouldMoveAFunctionThatHasBecomeHotAtOnce() {
        int[] means = chosen(1000, 2000);

        assertThat(chosen(means, 1000, 50e6)).containsExactly(TierChoice.EXACT, TierChoice.SLICED);
    }

    @Test
    void shouldKeepRowsWithinTheirMemory() {
        int[] means = new int[4];

        choice.choose(new double[] {1, 2, 3, 4}, new double[4], means, INCOME, 1, 2);

        assertThat(means).containsExactly(TierChoice.EXACT, TierChoice.EXACT, TierChoice.SLICED, TierChoice.SLICED);
    }

    /// Of many that are alike, rates differ by chance from look to look: tiers must not go to and fro for that.
    @Test
    void shouldKeepTheTiersOfFunctionsWhoseRatesDifferByChanceOnly() {
        SplittableRandom random = new SplittableRandom(1);
        double[] rates = new double[20_000];
        Arrays.setAll(rates, i -> random.nextDouble(80, 120));
        int[] first = chosen(rates);
        Arrays.setAll(rates, i -> random.nextDouble(80, 120));

        int[] second = chosen(first, rates);

        long exact =
                Arrays.stream(first).filter(mean -> mean == TierChoice.EXACT).count();
        long left = IntStream.range(0, first.length)
                .filter(i -> first[i] == TierChoice.EXACT && second[i] != TierChoice.EXACT)
                .count();
        assertThat(exact).isGreaterThan(50);
        assertThat(left).isZero();
    }
}
