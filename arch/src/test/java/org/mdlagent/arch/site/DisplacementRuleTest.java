package org.mdlagent.arch.site;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/// The oracle lists all displacements that a rule allows.
class DisplacementRuleTest {
    private static final int RULES = 20_000;
    private static final int FREE_BITS_MAX = 12;

    private final SplittableRandom random = new SplittableRandom(7);

    @Test
    void shouldFindTheFirstThatIsAllowed() {
        int beyond = 0;
        for (int i = 0; i < RULES; i++) {
            int mask = random.nextInt() | random.nextInt() | random.nextInt();
            if (Integer.bitCount(~mask) > FREE_BITS_MAX) {
                continue;
            }
            DisplacementRule rule = new DisplacementRule(mask, random.nextInt() & mask);
            int from = random.nextBoolean() ? random.nextInt() : rule.value() + random.nextInt(-9, 10);
            long expected = firstOfAll(rule, from);
            assertThat(rule.firstFrom(from)).as("%s from %x", rule, from).isEqualTo(expected);
            beyond += expected == DisplacementRule.NONE ? 1 : 0;
        }
        assertThat(beyond).isBetween(RULES / 10, RULES / 2);
    }

    private static long firstOfAll(DisplacementRule rule, int from) {
        for (int i = 0; i < 1 << Integer.bitCount(~rule.mask()); i++) {
            int displacement = Integer.expand(i, ~rule.mask()) | rule.value();
            if (Integer.compareUnsigned(displacement, from) >= 0) {
                return Integer.toUnsignedLong(displacement);
            }
        }
        return DisplacementRule.NONE;
    }

    @Test
    void shouldAllowWhatItFindsAndNothingBefore() {
        int[] masks = {0xFF, 0xFF00, 0xFF0000, 0xFF000000, 0xFF0000FF, 0xFF00FF00, 0xFFFF00FF};
        for (int mask : masks) {
            DisplacementRule rule = new DisplacementRule(mask, 0xCCCCCCCC & mask);
            for (int i = 0; i < 10; i++) {
                int from = 0xCC000000 | random.nextInt(1 << 24);
                long at = Integer.toUnsignedLong(from);
                while (at < 1L << Integer.SIZE && !rule.allows((int) at)) {
                    at++;
                }
                assertThat(rule.firstFrom(from))
                        .as("%s from %x", rule, from)
                        .isEqualTo(at < 1L << Integer.SIZE ? at : DisplacementRule.NONE);
            }
        }
    }

    @Test
    void shouldAllowAnyDisplacementWithoutMask() {
        for (int displacement : new int[] {0, 1, -1, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
            assertThat(DisplacementRule.ANY.allows(displacement)).isTrue();
            assertThat(DisplacementRule.ANY.firstFrom(displacement)).isEqualTo(Integer.toUnsignedLong(displacement));
        }
    }

    @Test
    void shouldRefuseValueBeyondItsMask() {
        assertThatThrownBy(() -> new DisplacementRule(0xFF, 0x1CC)).isInstanceOf(IllegalArgumentException.class);
    }
}
