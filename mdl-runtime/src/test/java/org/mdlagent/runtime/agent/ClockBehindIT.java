package org.mdlagent.runtime.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mdlagent.runtime.Dist;

/// Durations that come out below 0 are recorded as nothing: as what it is modulo 2^64 one of them would withhold all
/// figures of its function.
class ClockBehindIT {
    private static final int CALLS = 1000;

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"-finstrument-functions", "-fpatchable-function-entry=5"})
    void shouldRecordADurationBelowNothingAsNothing(String flags) throws Exception {
        Path session = directory.resolve("session");
        Path include = Path.of("../native-shim/include").toAbsolutePath().normalize();
        Path program = Dist.compile(directory, "clock_behind", flags, "-D_GNU_SOURCE", "-I" + include);

        Dist.Outcome run =
                Dist.run(directory, Dist.preload("wait,exact,session=" + session), List.of(program.toString()));

        assertThat(run.status()).as(run.err()).isZero();
        JsonNode report = Dist.report(directory, session);
        assertThat(report.get("losses")).isEmpty();
        JsonNode late = Dist.function(report, "begins_late");
        assertExact(late);
        assertThat(late.get("totalNanos").asLong()).isZero();
        JsonNode caller = Dist.function(report, "has_long_callees");
        assertExact(caller);
        assertThat(caller.get("totalNanos").asLong()).isPositive();
        assertThat(caller.get("selfNanos").asLong()).isZero();
    }

    private static void assertExact(JsonNode function) {
        assertThat(function.has("damage")).as(function.toString()).isFalse();
        assertThat(function.get("callsExact").asBoolean()).isTrue();
        assertThat(function.get("calls").asLong()).isEqualTo(CALLS);
        assertThat(function.get("sampled").asLong()).isEqualTo(CALLS);
    }
}
