package org.mdlagent.profiler.report.profile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.profiler.report.session.SessionImage;

class CpuSamplesTest {
    @TempDir
    private Path directory;

    private static List<String> sorted(ProfileOrder order, FunctionProfile... functions) {
        return order.sort(List.of(functions)).stream()
                .map(FunctionProfile::name)
                .toList();
    }

    @Test
    void shouldAddUpTheSharesOfCodeWithoutProbes() {
        CpuSamples samples = new CpuSamples(
                1_000,
                200,
                1,
                3,
                10,
                50,
                List.of(new CpuSamples.OfImage("/a", 40), new CpuSamples.OfImage("/b", 6)),
                0,
                0,
                0);

        assertThat(samples.notProbedPercent()).isCloseTo(28, within(1e-9));
        assertThat(samples.nanos()).isEqualTo(200_000);
        assertThat(samples.isEmpty()).isFalse();
    }

    @Test
    void shouldBelieveWhatWasPredictedOfProbesUnlessItIsContradicted() {
        CpuSamples samples = new CpuSamples(1_000, 2_000, 1, 100, 0, 0, List.of(), 0, 0, 0);

        assertThat(samples.probeNanos(81_000)).isEqualTo(81_000);
        assertThat(samples.probeNanos(79_000)).isEqualTo(100_000);
        assertThat(samples.probeNanos(300_000)).isEqualTo(300_000);
        assertThat(CpuSamples.NONE.probeNanos(5)).isEqualTo(5);
    }

    @Test
    void shouldBeLessSureWhereASampleIsCountedOften() {
        CpuSamples samples = new CpuSamples(1_000, 2_000, 4, 100, 0, 0, List.of(), 0, 0, 0);

        assertThat(samples.probeNanos(61_000)).isEqualTo(61_000);
        assertThat(samples.probeNanos(59_000)).isEqualTo(100_000);
    }

    @Test
    void shouldHaveNoShareOfNothing() {
        assertThat(CpuSamples.NONE.isEmpty()).isTrue();
        assertThat(CpuSamples.NONE.notProbedPercent()).isZero();
    }

    @Test
    void shouldTellOfAFunctionThatHasTimeAndNoCall() {
        FunctionProfile uncalled = Profiles.function("loop");

        assertThat(uncalled.isToldOf()).isFalse();
        assertThat(uncalled.withCpu(4_000, 0.98).isToldOf()).isTrue();
        assertThat(uncalled.withCpu(3_000, 1.13).isToldOf()).isFalse();
    }

    @Test
    void shouldNotShowATimeThatMayBeNothing() {
        FunctionProfile unsure = Profiles.function("f", 10).withCpu(3_000, 1.13);
        FunctionProfile sure = unsure.withCpu(4_000, 1);

        assertThat(unsure.cpuNanos()).hasValue(3_000);
        assertThat(unsure.shownCpuNanos()).isEmpty();
        assertThat(unsure.shownCpuError()).isEmpty();
        assertThat(sure.shownCpuNanos()).hasValue(4_000);
        assertThat(sure.shownCpuError()).hasValue(1);
    }

    /// A callee whose calls were never timed is not subtracted from SELF; samples see it.
    @Test
    void shouldNotShowASelfTimeThatContainsCallees() {
        OptionalDouble error = OptionalDouble.of(0.05);
        FunctionProfile estimated =
                Profiles.function("f", 100).withSelf(95, OptionalDouble.of(0), OptionalDouble.of(1));
        FunctionProfile counted =
                Profiles.function("f", 100).withSelf(95, OptionalDouble.empty(), OptionalDouble.empty());
        FunctionProfile.Times ofCallees =
                new FunctionProfile.Times(OptionalLong.of(90), error, OptionalLong.of(1), error);

        assertThat(estimated.shownSelfNanos()).hasValue(95);
        assertThat(estimated.withCpu(ofCallees).shownSelfNanos()).isEmpty();
        assertThat(estimated.withCpu(ofCallees).shownSelfError()).isEmpty();
        assertThat(estimated.withCpu(90, 0.05).shownSelfNanos()).hasValue(95);
        assertThat(counted.withCpu(ofCallees).shownSelfNanos()).hasValue(95);
    }

    @Test
    void shouldStayWithAFunctionWhoseTimesAreCorrectedAndNotWithOneThatIsMeasuredOtherwise() {
        FunctionProfile function = Profiles.function("f", 10).withCpu(4_000, 0.5);

        assertThat(List.of(
                        function.withMore(10),
                        function.withSelf(5, OptionalDouble.empty(), OptionalDouble.empty()),
                        function.withoutTotal(),
                        function.withCallAsLongAs(Profiles.function("g", 100))))
                .extracting(FunctionProfile::cpuNanos)
                .containsOnly(OptionalLong.of(4_000));
        assertThat(function.withoutTotal().cpu().selfError()).hasValue(0.5);
        FunctionProfile other =
                function.with(1, OptionalDouble.empty(), 1, Latency.NONE, FunctionProfile.Times.UNKNOWN);
        assertThat(other.cpuNanos()).isEmpty();
        assertThat(other.cpu().selfError()).isEmpty();
    }

    @Test
    void shouldStayWithSomeFunctionsOfASession() throws IOException {
        Profile profile = Profiles.read(SessionImage.cpuSample(), directory);

        assertThat(profile.only(function -> function.name().equals("hot")).cpu())
                .isEqualTo(profile.cpu())
                .isNotEqualTo(CpuSamples.NONE);
    }

    @Test
    void shouldPutAFunctionWhereTheLargerOfItsTimesBelongs() {
        FunctionProfile called = Profiles.function("called", 2_000);
        FunctionProfile loop = Profiles.function("loop").withCpu(3_000, 0.5);
        FunctionProfile guess = Profiles.function("guess").withCpu(9_000, 1.5);
        FunctionProfile waits = Profiles.function("waits", 4_000).withCpu(1_000, 0.5);

        assertThat(sorted(ProfileOrder.TOTAL, guess, called, loop, waits))
                .containsExactly("waits", "loop", "called", "guess");
        assertThat(sorted(ProfileOrder.CPU, guess, called, loop, waits))
                .containsExactly("loop", "waits", "called", "guess");
        FunctionProfile own = called.withSelf(2_000, OptionalDouble.empty(), OptionalDouble.of(1));
        assertThat(sorted(ProfileOrder.SELF, guess, own, loop, waits))
                .containsExactly("loop", "called", "waits", "guess");
    }
}
