package org.mdlagent.profiler.report.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Latency;
import org.mdlagent.profiler.report.profile.LatencyBuilder;
import org.mdlagent.profiler.report.profile.Profiles;

/// SciPy 1.17 is the truth where numbers are given, and chance itself where rates are.
class SignificanceTest {
    private static final long[] BEFORE = {10, 12, 14, 14, 15, 17, 18, 19, 20, 21};
    private static final long[] AFTER = {13, 14, 18, 22, 23, 24, 25, 26, 27, 28, 29};

    private static Latency latency(double nanosPerTick, long... ticks) {
        LatencyBuilder builder = new LatencyBuilder();
        LongStream.of(ticks).forEach(builder::add);
        return builder.build(nanosPerTick);
    }

    private static RankTest rank(long[] before, long[] after) {
        return RankTest.of(latency(1, before), before.length, latency(1, after), after.length, Margin.NONE);
    }

    /// scipy.stats.norm.sf(z)
    @Test
    void shouldKnowTheTailsOfTheNormalDistribution() {
        double[][] truth = {
            {0, 0.5},
            {0.5, 0.3085375387259869},
            {1, 0.15865525393145707},
            {1.959963985, 0.02499999997311844},
            {2.5, 0.006209665325776132},
            {3, 0.0013498980316300933},
            {5, 2.866515718791933e-07},
            {8, 6.22096057427174e-16},
            {20, 2.7536241186061556e-89}
        };
        for (double[] each : truth) {
            Offset<Double> close = within(each[1] * 1e-9);
            assertThat(Normal.above(each[0])).isCloseTo(each[1], close);
            assertThat(Normal.above(-each[0])).isCloseTo(1 - each[1], within(1e-9));
            assertThat(Normal.beyond(each[0])).isCloseTo(2 * each[1], within(2 * each[1] * 1e-9));
        }
        assertThat(Normal.beyond(Double.NaN)).isNaN();
    }

    /// scipy.stats.mannwhitneyu(after, before, method="asymptotic", use_continuity=False)
    @Test
    void shouldRankAsMannAndWhitneyDo() {
        RankTest test = rank(BEFORE, AFTER);

        assertThat(test.slower()).isCloseTo(91.5 / 110, within(1e-12));
        assertThat(Normal.beyond(test.z())).isCloseTo(0.010040387475353778, within(1e-11));
        assertThat(Normal.above(test.z())).isCloseTo(0.005020193737676889, within(1e-11));
        assertThat(rank(AFTER, BEFORE).z()).isCloseTo(-test.z(), within(1e-12));
    }

    @Test
    void shouldTakeEqualDurationsForEqualWhenTheClockIsMeasuredALittleDifferently() {
        long[] ticks = new SplittableRandom(1).longs(10_000, 50, 5_000_000).toArray();

        RankTest test =
                RankTest.of(latency(0.4, ticks), ticks.length, latency(0.4 * 1.0002, ticks), ticks.length, Margin.NONE);

        assertThat(test.slower()).isCloseTo(0.5, within(1e-9));
    }

    @Test
    void shouldSayNothingOfTooFewCalls() {
        assertThat(rank(BEFORE, new long[] {500, 600, 700}).slower()).isNaN();
        assertThat(rank(BEFORE, new long[0]).z()).isNaN();
    }

    @Test
    void shouldBeWrongAboutEqualDistributionsAsOftenAsItSays() {
        SplittableRandom random = new SplittableRandom(2);
        int pairs = 2_000;
        int ranks = 0;
        int totals = 0;
        for (int i = 0; i < pairs; i++) {
            long[] before = durations(random, 200, 1);
            long[] after = durations(random, 300, 1);
            ranks += Normal.beyond(rank(before, after).z()) <= 0.05 ? 1 : 0;
            totals += Normal.beyond(total(before, after)) <= 0.05 ? 1 : 0;
        }
        assertThat(ranks / (double) pairs).isBetween(0.035, 0.065);
        assertThat(totals / (double) pairs).isBetween(0.03, 0.07);
    }

    @Test
    void shouldFindWhatHasBecomeSlower() {
        SplittableRandom random = new SplittableRandom(3);
        int found = 0;
        for (int i = 0; i < 100; i++) {
            found += Normal.above(rank(durations(random, 500, 1), durations(random, 500, 1.2))
                                    .z())
                            <= 0.05
                    ? 1
                    : 0;
        }
        assertThat(found).isGreaterThan(95);
    }

    /// Both are taken to have been called equally often.
    private static double total(long[] before, long[] after) {
        return TotalTest.z(
                estimate(before, 10_000), before.length, estimate(after, 10_000), after.length, Margin.NONE, 1);
    }

    /// A function of whose calls some were timed.
    private static FunctionProfile estimate(long[] nanos, long calls) {
        FunctionProfile timed = Profiles.function("f", nanos);
        double mean = LongStream.of(nanos).average().orElse(0);
        return new FunctionProfile(
                timed.name(),
                timed.symbol(),
                timed.file(),
                timed.line(),
                timed.image(),
                calls,
                true,
                OptionalDouble.empty(),
                false,
                nanos.length,
                OptionalLong.of(Math.round(mean * calls)),
                timed.selfNanos(),
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                timed.latency(),
                true);
    }

    /// With a long tail, as durations have.
    private static long[] durations(SplittableRandom random, int count, double factor) {
        return random.doubles(count)
                .mapToLong(u -> Math.round(factor * (1_000 - 400 * Math.log(1 - u))))
                .toArray();
    }

    /// scipy.stats.false_discovery_control([0.01, 0.04, 0.03, 0.5, 0.001, 0.2])
    @Test
    void shouldCorrectForManyTests() {
        double[] rates = FalseDiscovery.rates(new double[] {0.01, 0.04, Double.NaN, 0.03, 0.5, 0.001, 0.2});

        assertThat(rates[2]).isNaN();
        rates[2] = 0;
        assertThat(rates).containsExactly(new double[] {0.03, 0.06, 0, 0.06, 0.5, 0.006, 0.24}, within(1e-12));
    }
}
