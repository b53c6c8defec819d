package org.mdlagent.profiler.sampled;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.fastinst.install.Tier;
import org.mdlagent.profiler.figures.ProbeCost;
import org.mdlagent.profiler.tier.Tiers;

class StoppedFunctionsTest {
    private static final double BUDGET = 0.01;
    private static final double TICKS_PER_NANO = 2.5;

    /// A hundred calls in a second, and a hundred million.
    private static final double RARE = 1e-7;

    private static final double FREQUENT = 0.1;

    private final Arena arena = Arena.ofConfined();
    private final StoppedFunctions stopped;

    StoppedFunctionsTest() {
        Tiers tiers = new Tiers(
                new ProbeCost(false),
                arena.allocate(HeaderDescriptor.SIZE, Long.BYTES).address(),
                BUDGET,
                TICKS_PER_NANO);
        tiers.grow(3);
        tiers.begin(0, Tier.EXACT, false);
        tiers.begin(1, Tier.EXACT, false);
        tiers.begin(2, Tier.SLICED, false);
        stopped = new StoppedFunctions(tiers, BUDGET, TICKS_PER_NANO);
    }

    @AfterEach
    void close() {
        arena.close();
    }

    @Test
    void shouldGoOnWithAFunctionThatCostsLittle() {
        assertThat(stopped.goesOn(0, RARE)).isTrue();
        assertThat(stopped.goesOn(1, FREQUENT)).isFalse();
    }

    @Test
    void shouldNotGoOnWithAFunctionThatIsSliced() {
        assertThat(stopped.goesOn(2, RARE)).isFalse();
    }

    /// It would be off most of the time.
    @Test
    void shouldGoOnOnceBetweenTwoChoicesOfTiers() {
        assertThat(stopped.goesOn(0, RARE)).isTrue();
        assertThat(stopped.goesOn(1, RARE)).isTrue();
        assertThat(stopped.goesOn(0, RARE)).isFalse();

        stopped.forget();

        assertThat(stopped.goesOn(0, RARE)).isTrue();
    }
}
