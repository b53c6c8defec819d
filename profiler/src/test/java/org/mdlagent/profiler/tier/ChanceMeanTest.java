package org.mdlagent.profiler.tier;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ChanceMeanTest {
    @Test
    void shouldBeAPowerOfTwoNearWhatIsWanted() {
        assertThat(ChanceMean.of(100, 0)).isEqualTo(128);
        assertThat(ChanceMean.of(0.1, 0)).isEqualTo(2);
        assertThat(ChanceMean.of(1e12, 0)).isEqualTo(1 << 20);
    }

    @Test
    void shouldStayUnlessItIsWrongByAFactor() {
        assertThat(ChanceMean.of(300, 128)).isEqualTo(128);
        assertThat(ChanceMean.of(40, 128)).isEqualTo(128);
        assertThat(ChanceMean.of(600, 128)).isEqualTo(512);
        assertThat(ChanceMean.of(10, 128)).isEqualTo(8);
    }

    @Test
    void shouldStayWhileNothingIsKnown() {
        assertThat(ChanceMean.of(Double.NaN, 64)).isEqualTo(64);
        assertThat(ChanceMean.of(Double.NaN, 0)).isEqualTo(2);
    }
}
