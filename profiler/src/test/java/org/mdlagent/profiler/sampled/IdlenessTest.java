package org.mdlagent.profiler.sampled;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class IdlenessTest {
    private static final long MILLI = 1_000_000;

    private final Idleness idleness = new Idleness(1);
    private long now;

    private double looked(long passed, long cpu, long calls) {
        now += passed;
        return idleness.lookNanos(now, cpu, calls) / MILLI;
    }

    @Test
    void shouldLookEverMoreSeldomWhileNothingHappens() {
        assertThat(looked(60 * MILLI, 0, 0)).isEqualTo(120);
        assertThat(looked(120 * MILLI, 0, 0)).isEqualTo(240);
        assertThat(looked(240 * MILLI, 0, 0)).isEqualTo(480);
        assertThat(looked(480 * MILLI, 0, 0)).isEqualTo(500);
        assertThat(looked(500 * MILLI, 4 * MILLI, 0)).isEqualTo(500);
    }

    @Test
    void shouldLookAsOftenAsEverOnceAFunctionIsCalledOrTimeIsTaken() {
        looked(60 * MILLI, 0, 0);
        assertThat(looked(120 * MILLI, 0, 1)).isEqualTo(60);
        assertThat(looked(60 * MILLI, 0, 1)).isEqualTo(120);
        assertThat(looked(120 * MILLI, 2 * MILLI, 1)).isEqualTo(60);
    }
}
