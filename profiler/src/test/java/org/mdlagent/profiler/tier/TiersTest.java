package org.mdlagent.profiler.tier;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.fastinst.install.Tier;
import org.mdlagent.profiler.figures.ProbeCost;

class TiersTest {
    private static final double TICKS_PER_NANO = 2.5;

    /// Calls for each nanosecond: to count those of one takes half of the budget.
    private static final double RATE = 1.4e-3;

    private static int[] chosen(Tier tier, long nanos, long[] calls, double sliced, IntToDoubleFunction clock) {
        try (Arena arena = Arena.ofConfined()) {
            long header = arena.allocate(HeaderDescriptor.SIZE, Long.BYTES).address();
            Memory.putLong(header + HeaderDescriptor.LIMIT, 1L << 30);
            Tiers tiers = new Tiers(new ProbeCost(false), header, 0.01, TICKS_PER_NANO);
            tiers.grow(calls.length);
            for (int i = 0; i < calls.length; i++) {
                tiers.begin(i, tier, false);
            }
            tiers.start(1);
            int[] means = tiers.choose((long) (1e9 * TICKS_PER_NANO), nanos, 1, 1, calls, i -> sliced, () -> clock);
            return means == null ? new int[0] : means;
        }
    }

    /// Of two functions that are alike, and of which the budget pays for one.
    private static int[] chosen(IntToDoubleFunction clock) {
        return chosen(Tier.SLICED, (long) 1e9, new long[2], RATE, clock);
    }

    @Test
    void shouldCountFirstWhatTheClockFindsMuchOfTheTimeIn() {
        assertThat(chosen(i -> i == 0 ? 0.3 : 0)[1]).isEqualTo(TierChoice.SLICED);
        assertThat(chosen(i -> i == 0 ? 0.3 : 0)[0]).isGreaterThan(TierChoice.EXACT);
        assertThat(chosen(i -> i == 1 ? 0.3 : 0)[0]).isEqualTo(TierChoice.SLICED);
        assertThat(chosen(i -> i == 1 ? 0.3 : 0)[1]).isGreaterThan(TierChoice.EXACT);
    }

    /// In 4 ms, 2,000 calls would be half a million a second, to time all of which is beyond the budget; 40,000 are
    /// too many, whatever follows.
    @Test
    void shouldNotTakeABurstOfMillisecondsForARate() {
        int[] means = chosen(Tier.EXACT, 4_000_000, new long[] {2000, 40_000}, -1, i -> 0);

        assertThat(means[0]).isEqualTo(TierChoice.EXACT);
        assertThat(means[1]).isNotEqualTo(TierChoice.EXACT);
    }

    /// What initializes a program: 500 functions, each called 30 times in its first 20 ms.
    @Test
    void shouldSliceNothingBecauseOfTheFirstCallsOfAProgram() {
        long[] calls = new long[500];
        Arrays.fill(calls, 30);

        assertThat(chosen(Tier.EXACT, 20_000_000, calls, -1, i -> 0)).doesNotContain(TierChoice.SLICED);
    }
}
