package org.mdlagent.arch.shim;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.arch.layout.KernelEvent;

class PerfEventsTest {
    @Test
    void shouldTellAMissingProcessorsCounterFromARefusal() {
        assertThat(PerfEvents.countingRefusal(KernelEvent.CACHE_MISSES, PerfEvents.ENOENT))
                .startsWith("this machine shows no hardware counters");
        assertThat(PerfEvents.countingRefusal(KernelEvent.PAGE_FAULTS, PerfEvents.ENOENT))
                .isEqualTo("this kernel does not count it");
        assertThat(PerfEvents.countingRefusal(KernelEvent.CACHE_MISSES, PerfEvents.EACCES))
                .startsWith("the kernel refuses to count for this user: perf_event_paranoid is ");
    }

    /// A value is named where it would change something.
    @ParameterizedTest
    @CsvSource({"4, 2, true", "3, 2, true", "2, 2, false", "1, 2, false", "2, 1, true", "1, 1, false", "-1, 1, false"})
    void shouldNameTheValueThatHelps(int paranoid, int most, boolean helps) {
        String refusal = PerfEvents.refusal(paranoid, most, "it");

        assertThat(refusal).startsWith("perf_event_paranoid is " + paranoid);
        assertThat(refusal.contains("sysctl kernel.perf_event_paranoid=" + most))
                .isEqualTo(helps);
    }
}
