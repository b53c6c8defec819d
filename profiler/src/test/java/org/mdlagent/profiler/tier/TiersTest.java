package org.mdlagent.profiler.tier;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.fastinst.install.Tier;
import org.mdlagent.profiler.estimate.ProbeCost;

class TiersTest {
    private static final double TICKS_PER_NANO = 2.5;

    /// Calls for each nanosecond: to count those of one takes half of the budget.
    private static final double RATE = 1.4e-3;

    /// Of two functions that are alike, and of which the budget pays for one.
    private static int[] chosen(IntToDoubleFunction clock) {
        try (Arena arena = Arena.ofConfined()) {
            long header = arena.allocate(HeaderDescriptor.SIZE, Long.BYTES).address();
            Memory.putLong(header + HeaderDescriptor.LIMIT, 1L << 30);
            Tiers tiers = new Tiers(new ProbeCost(false), header, 0.01, TICKS_PER_NANO);
            tiers.grow(2);
            tiers.begin(0, Tier.WINDOWED, false);
            tiers.begin(1, Tier.WINDOWED, false);
            tiers.start(1);
            int[] means =
                    tiers.choose((long) (1e9 * TICKS_PER_NANO), (long) 1e9, 1, 1, new long[2], i -> RATE, () -> clock);
            return means == null ? new int[0] : means;
        }
    }

    @Test
    void shouldCountFirstWhatTheClockFindsMuchOfTheTimeIn() {
        assertThat(chosen(i -> i == 0 ? 0.3 : 0)[1]).isEqualTo(TierChoice.WINDOWED);
        assertThat(chosen(i -> i == 0 ? 0.3 : 0)[0]).isGreaterThan(TierChoice.EXACT);
        assertThat(chosen(i -> i == 1 ? 0.3 : 0)[0]).isEqualTo(TierChoice.WINDOWED);
        assertThat(chosen(i -> i == 1 ? 0.3 : 0)[1]).isGreaterThan(TierChoice.EXACT);
    }
}
