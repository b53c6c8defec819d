package org.mdlagent.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class BenchTest {
    private static List<String> everyBenchmark() {
        return Bench.NAMES;
    }

    /// They are named as text, which no compiler checks.
    @ParameterizedTest
    @MethodSource("everyBenchmark")
    void shouldNameProgramsThatThereAre(String benchmark) throws Exception {
        List<Bench.Measurement> measurements = new Bench(false).measurements(benchmark);

        assertThat(measurements).isNotEmpty();
        for (Bench.Measurement measurement : measurements) {
            assertThat(Class.forName(measurement.mainClass()).getMethod("main", String[].class))
                    .isNotNull();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"nonsense", "quick", "Start", "start:lua", ":lua", ""})
    void shouldRefuseWhatThereIsNot(String asked) {
        assertThatThrownBy(() -> Bench.check(asked)).hasMessageContaining("benchmark");
    }

    @Test
    void shouldMeasureTheProgramsThatAreChosen() throws Exception {
        Bench.check("profiler:lua,perl");

        assertThat(new Bench(false).measurements("profiler:lua,perl"))
                .allSatisfy(measurement -> assertThat(measurement.arguments()).containsExactly("lua", "perl"));
    }

    @Test
    void shouldMeasureLessInAQuickRun() {
        assertThat(new Bench(true).measurements("scaling"))
                .allSatisfy(measurement -> assertThat(measurement.command()).contains("-Dmdl.bench.rounds=2"));
        assertThat(new Bench(false).measurements("scaling"))
                .noneSatisfy(measurement -> assertThat(measurement.command()).contains("-Dmdl.bench.rounds=2"));
    }
}
