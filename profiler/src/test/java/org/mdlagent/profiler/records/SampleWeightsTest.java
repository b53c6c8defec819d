package org.mdlagent.profiler.records;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SampleWeightsTest {
    private final SampleWeights weights = new SampleWeights();

    @Test
    void shouldShareTheCallsOfASpanAmongThoseThatWereTimed() {
        weights.grow(2);
        weights.begin(1, 100);
        weights.set(1, 5000, 10);

        assertThat(weights.of(1, 100)).isEqualTo(500);
        assertThat(weights.of(0, 100)).isEqualTo(1);
    }

    @Test
    void shouldKeepTheWeightOfTheSpanInWhichACallBegan() {
        weights.grow(1);
        weights.begin(0, 100);
        weights.set(0, 20, 10);
        weights.begin(0, 200);

        assertThat(weights.of(0, 250)).as("not known yet").isEqualTo(2);
        weights.set(0, 70, 10);
        assertThat(weights.of(0, 250)).isEqualTo(7);
        assertThat(weights.of(0, 150)).as("began before").isEqualTo(2);
    }

    @Test
    void shouldTakeTheOldestSpanThatIsKnownForAVeryLongCall() {
        weights.grow(1);
        for (int span = 1; span <= 20; span++) {
            weights.begin(0, 100 * span);
            weights.set(0, 10 * span, 10);
        }

        assertThat(weights.of(0, 1450)).isEqualTo(14);
        assertThat(weights.of(0, 150)).isEqualTo(13);
    }

    @Test
    void shouldNeverForgetACall() {
        weights.grow(1);
        weights.begin(0, 100);
        weights.set(0, 0.1, 10);

        assertThat(weights.of(0, 100)).isEqualTo(1);
    }

    @Test
    void shouldKeepWhatItKnowsWhenFunctionsCome() {
        weights.grow(1);
        weights.begin(0, 100);
        weights.set(0, 30, 10);
        weights.grow(3);

        assertThat(weights.of(0, 100)).isEqualTo(3);
        assertThat(weights.of(2, 100)).isEqualTo(1);
    }
}
