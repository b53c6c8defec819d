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
        assertThat(looked(200 * MILLI, 0, 0)).isEqualTo(400);
        assertThat(looked(400 * MILLI, 0, 0)).isEqualTo(500);
        assertThat(looked(500 * MILLI, 4 * MILLI, 0)).isEqualTo(500);
    }

    @Test
    void shouldLookAsOftenAsEverOnceAFunctionIsCalledOrTimeIsTaken() {
        looked(200 * MILLI, 0, 0);
        assertThat(looked(400 * MILLI, 0, 1)).isEqualTo(200);
        assertThat(looked(200 * MILLI, 0, 1)).isEqualTo(400);
        assertThat(looked(400 * MILLI, 5 * MILLI, 1)).isEqualTo(200);
    }
}
