package org.mdlagent.profiler.report.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalDouble;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profiles;

class QuantityTest {
    @ParameterizedTest
    @CsvSource({
        "0,0ns",
        "9,9ns",
        "180,180ns",
        "999,999ns",
        "1000,1.0us",
        "2149,2.1us",
        "9949,9.9us",
        "9951,10us",
        "88200,88us",
        "999499,999us",
        "999500,1.0ms",
        "9400000,9.4ms",
        "1500000000,1.5s",
        "7200000000000,7200s"
    })
    void shouldGiveDurationsTwoDigits(long nanos, String expected) {
        assertThat(Quantity.duration(nanos).text()).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"0,0", "999,999", "1000,1.00 k", "1204999,1.20 M", "9995000,10.0 M", "3410000000,3.41 G"})
    void shouldGiveCountsThreeDigitsAndSmallOnesAll(long count, String expected) {
        assertThat(Quantity.count(count).text()).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"0.5,0.50 /s", "3,3 /s", "3.26,3.3 /s", "96800,97 k/s"})
    void shouldGiveRatesPerSecond(double rate, String expected) {
        assertThat(Quantity.rate(rate).text()).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"0.1,3 ±10%", "2.16,3 ±216%", "10,3 ±>999%", "10.1,-"})
    void shouldNotShowCallsOfWhichNobodyKnowsTheirOrderOfMagnitude(double error, String expected) {
        FunctionProfile function = Profiles.function("f", 1, 2, 3);

        Quantity calls = Quantity.calls(function.with(
                3,
                OptionalDouble.of(error),
                3,
                function.latency(),
                new FunctionProfile.Times(
                        function.totalNanos(),
                        function.times().totalError(),
                        function.selfNanos(),
                        function.times().selfError())));

        assertThat(calls.text()).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"0.012,1.20 M ±1%", "0.004,1.20 M ±0.4%", "25,1.20 M ±>999%"})
    void shouldCarryTheErrorOfAnEstimate(double error, String expected) {
        assertThat(Quantity.count(1_200_000).plusMinus(error).text()).isEqualTo(expected);
    }
}
