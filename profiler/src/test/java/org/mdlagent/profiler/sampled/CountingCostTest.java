package org.mdlagent.profiler.sampled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.site.RecordingTicks;
import org.mdlagent.profiler.figures.ProbeCost;

class CountingCostTest {
    private static final double TICKS_PER_NANO = 2.5;
    private static final long LOOK = 2_000_000;
    private static final double WARM_NANOS = RecordingTicks.SLICED / TICKS_PER_NANO;

    private final ProbeCost cost = new ProbeCost(false);
    private final CountingCost counting = new CountingCost(cost, TICKS_PER_NANO);

    @BeforeEach
    void makeRoom() {
        counting.grow(2);
    }

    /// Ten million calls a second in a twentieth of the time: on average the function is in no cache.
    @Test
    void shouldPriceABurstAsWarm() {
        for (int look = 0; look < 20; look++) {
            boolean burst = look % 20 == 0;
            double nanos = counting.add(0, burst ? 20_000 : 0, LOOK);
            assertThat(nanos).isCloseTo(burst ? 20_000 * WARM_NANOS : 0, within(0.01 * 20_000 * WARM_NANOS));
        }

        assertThat(counting.price(0, 2e-6)).isCloseTo(RecordingTicks.SLICED, within(0.1));
    }

    @Test
    void shouldPriceRareCallsAsCold() {
        double nanos = counting.add(0, 2, LOOK);

        assertThat(nanos).isCloseTo(2 * cost.sliced(1_000) / TICKS_PER_NANO, within(1e-6));
        assertThat(nanos).isGreaterThan(2 * 20 * WARM_NANOS);
    }

    @Test
    void shouldPriceAFunctionWithoutSlicesByItsRate() {
        assertThat(counting.price(1, 1e-3)).isEqualTo(cost.sliced(1e6));
        assertThat(counting.price(1, Double.NaN)).isEqualTo(cost.sliced(0));
    }

    @Test
    void shouldForgetWhatCallsCostLongAgo() {
        counting.add(0, 2, LOOK);
        for (int look = 0; look < 100; look++) {
            counting.add(0, 20_000, LOOK);
        }

        assertThat(counting.price(0, 1)).isCloseTo(RecordingTicks.SLICED, within(0.1));
    }

    /// A loop of an empty function may take twice as long; a call every 250 ticks hardly does.
    @Test
    void shouldDoubtThePriceOfDenseCallsOnly() {
        long dense = LOOK / 8;
        assertThat(counting.doubtful(dense, LOOK)).isCloseTo(1.25 * dense * WARM_NANOS, within(1.0));

        long sparse = LOOK / 100;
        assertThat(counting.doubtful(sparse, LOOK)).isLessThan(0.2 * sparse * WARM_NANOS);
    }
}
