package org.mdlagent.profiler.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PcSamplesTest {
    /// A hundred a second at 1 %, five hundred at 5 % and more, and never fewer than a hundred.
    @ParameterizedTest
    @CsvSource({"0, 9973000", "0.001, 9973000", "0.01, 9973000", "0.02, 4986500", "0.05, 1999000", "0.5, 1999000"})
    void shouldSampleAsOftenAsTheBudgetAllows(double budget, long nanos) {
        assertThat(PcSamples.periodNanos(budget)).isEqualTo(nanos);
    }
}
