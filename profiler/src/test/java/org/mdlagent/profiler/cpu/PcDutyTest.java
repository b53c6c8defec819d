package org.mdlagent.profiler.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PcDutyTest {
    private static final double SECOND = 1e9;

    private final PcDuty duty = new PcDuty();

    /// A clock costs 1 us at each switch, and 2 ms of a second are allowed.
    @ParameterizedTest
    @CsvSource({"0, 1", "2000, 1", "2001, 2", "22000, 11", "100000, 50", "1000000, 50"})
    void shouldSampleRarelyWhereThreadsOftenWait(long switches, int weight) {
        duty.add(SECOND, switches);

        assertThat(duty.weight()).isEqualTo(weight);
    }

    @Test
    void shouldSampleAllTheTimeWhereNothingIsKnown() {
        assertThat(duty.weight()).isEqualTo(1);

        duty.add(0, 5);
        assertThat(duty.weight()).isEqualTo(1);
    }

    @Test
    void shouldForgetWhatWas() {
        duty.add(SECOND, 32_000);
        for (int i = 0; i < 5; i++) {
            duty.age();
            duty.add(SECOND, 0);
        }

        assertThat(duty.weight()).isEqualTo(1);
    }
}
