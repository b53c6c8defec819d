package org.mdlagent.profiler.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class RecentSharesTest {
    private static final double SECOND = 1e9;

    private final RecentShares shares = new RecentShares();

    private void add(double nanos, long all, long... samples) {
        addWeighted(nanos, 1, all, samples);
    }

    private void addWeighted(double nanos, int weight, long all, long... samples) {
        shares.grow(samples.length);
        shares.add(nanos, weight, all, i -> samples[i]);
    }

    @Test
    void shouldTellWhichPartOfAllSamplesAFunctionHas() {
        add(SECOND, 100, 30, 50);

        assertThat(shares.share(0)).isEqualTo(0.3);
        assertThat(shares.share(1)).isEqualTo(0.5);
    }

    @Test
    void shouldTellNothingByFewSamples() {
        add(SECOND, 19, 10, 5);
        assertThat(shares.share(0)).isZero();

        add(0, 100, 10, 5);
        assertThat(shares.share(0)).isPositive();

        add(0, 1000, 10, 5, 2);
        assertThat(shares.share(2)).isZero();
    }

    /// After eight seconds, twice the time in which two thirds are forgotten, the first is at 100 e^-2 of 100 + 100
    /// e^-2.
    @Test
    void shouldForgetLittleByLittle() {
        add(SECOND, 100, 100, 0);
        add(8 * SECOND, 200, 100, 100);

        assertThat(shares.share(0)).isCloseTo(0.119, within(0.001));
        assertThat(shares.share(1)).isCloseTo(0.881, within(0.001));
    }

    @Test
    void shouldWantAsManySamplesWhereEachStandsForMore() {
        addWeighted(SECOND, 10, 199, 100);
        assertThat(shares.share(0)).isZero();

        addWeighted(0, 10, 200, 100, 29);
        assertThat(shares.share(0)).isEqualTo(0.5);
        assertThat(shares.share(1)).isZero();
    }

    @Test
    void shouldForgetLaterWhereSamplesAreRarer() {
        addWeighted(SECOND, 2, 100, 100, 0);
        addWeighted(16 * SECOND, 2, 200, 100, 100);

        assertThat(shares.share(0)).isCloseTo(0.119, within(0.001));
    }

    @Test
    void shouldCountEachSampleOnce() {
        add(SECOND, 100, 40);
        add(0, 100, 40);

        assertThat(shares.share(0)).isEqualTo(0.4);
    }

    @Test
    void shouldKeepWhatItKnowsWhenFunctionsCome() {
        add(SECOND, 100, 40);
        add(0, 200, 40, 100);

        assertThat(shares.share(0)).isEqualTo(0.2);
        assertThat(shares.share(1)).isEqualTo(0.5);
    }
}
