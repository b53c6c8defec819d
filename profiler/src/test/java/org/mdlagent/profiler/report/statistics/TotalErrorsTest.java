package org.mdlagent.profiler.report.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Path;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profiles;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.session.SessionImage;

class TotalErrorsTest {
    private static final long CALLS = 1_000_000;
    private static final int TRIALS = 2000;

    @TempDir
    Path directory;

    private SessionFacts sampled;

    @BeforeEach
    void readSession() throws Exception {
        sampled = Profiles.read(SessionImage.sampledSample(), directory).session();
    }

    /// A function of whose calls some were timed.
    private static FunctionProfile function(long[] nanos, boolean all) {
        double mean = LongStream.of(nanos).average().orElse(0);
        long calls = all ? nanos.length : CALLS;
        return Profiles.function("f", nanos)
                .with(
                        calls,
                        OptionalDouble.empty(),
                        nanos.length,
                        Profiles.function("f", nanos).latency(),
                        FunctionProfile.Times.of(OptionalLong.of(Math.round(mean * calls)), OptionalLong.empty()));
    }

    /// How many intervals, from calls timed by chance, contain the true value.
    private double covered(int timed, double mean, DoubleUnaryOperator duration) {
        SplittableRandom random = new SplittableRandom(timed);
        int covered = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            long[] nanos = random.doubles(timed)
                    .mapToLong(u -> Math.round(duration.applyAsDouble(u)))
                    .toArray();
            FunctionProfile function = function(nanos, false);
            double bound =
                    new TotalErrors(List.of(function), sampled).ofTotal(0).orElseThrow();
            double error = function.totalNanos().orElseThrow() - CALLS * mean;
            covered += Math.abs(error) <= bound ? 1 : 0;
        }
        return (double) covered / TRIALS;
    }

    @Test
    void shouldCoverTheTruthAlsoOfFewCalls() {
        assertThat(covered(4, 50_000, u -> 100_000 * u)).isBetween(0.92, 0.99);
        assertThat(covered(100, 50_000, u -> 100_000 * u)).isBetween(0.93, 0.98);
    }

    @Test
    void shouldCoverTheTruthOfALongTail() {
        assertThat(covered(50, 50_000, u -> -50_000 * Math.log(1 - u))).isBetween(0.9, 0.99);
    }

    @Test
    void shouldLeaveToTheProbesWhatIsTimedWholly() {
        FunctionProfile function = function(new long[] {1_000_000, 3_000_000, 2_000_000}, true);

        TotalErrors errors = new TotalErrors(List.of(function), sampled);

        assertThat(errors.ofTotal(0)).hasValue(3 * 50 + 0.001 * 6_000_000);
    }

    /// Slices that have met each call that they counted may have missed most of all calls.
    @Test
    void shouldBeNoSurerOfATotalThanOfItsCalls() {
        long[] nanos = LongStream.range(1, 1000).map(n -> 1000 * n).toArray();
        FunctionProfile function = function(nanos, true);
        FunctionProfile estimated = function.with(
                function.calls(),
                OptionalDouble.of(3),
                function.sampled(),
                function.latency(),
                FunctionProfile.Times.of(function.totalNanos(), OptionalLong.empty()));

        TotalErrors errors = new TotalErrors(List.of(estimated), sampled);

        assertThat(errors.ofTotal(0).orElseThrow())
                .isGreaterThan(2.9 * estimated.totalNanos().orElseThrow());
        assertThat(estimated.eachTimed()).isFalse();
        assertThat(function.eachTimed()).isTrue();
    }

    /// Of a machine that is so busy that threads wait half as long as they run.
    @Test
    void shouldAllowForWaitsThatNoSampleHasMet() throws Exception {
        SessionImage image = SessionImage.sampledSample();
        image.putLong(HeaderDescriptor.WAITED, Double.doubleToLongBits(0.5));
        SessionFacts busy = Profiles.read(image, directory).session();
        long[] nanos = LongStream.range(1, 1000).map(n -> 1000 * n).toArray();
        FunctionProfile sample = function(nanos, false);
        FunctionProfile all = function(nanos, true);

        TotalErrors here = new TotalErrors(List.of(sample, all), busy);
        TotalErrors elsewhere = new TotalErrors(List.of(sample, all), sampled);

        assertThat(here.ofTotal(0).orElseThrow())
                .isCloseTo(
                        elsewhere.ofTotal(0).orElseThrow()
                                + 0.5 * sample.totalNanos().orElseThrow(),
                        within(1.0));
        assertThat(here.ofTotal(1)).isEqualTo(elsewhere.ofTotal(1));
    }

    /// Of CALLS of 1 ms half of the time are waits, and half of the calls are timed.
    @Test
    void shouldKnowWaitsThatManyOfTheTimedCallsHaveMet() throws Exception {
        SessionImage image = SessionImage.sampledSample();
        image.putLong(HeaderDescriptor.WAITED, Double.doubleToLongBits(0.5));
        SessionFacts busy = Profiles.read(image, directory).session();
        FunctionProfile half =
                function(LongStream.generate(() -> 1_000_000).limit(CALLS / 2).toArray(), false);

        TotalErrors here = new TotalErrors(List.of(half), busy);
        TotalErrors elsewhere = new TotalErrors(List.of(half), sampled);

        double total = half.totalNanos().orElseThrow();
        assertThat((here.ofTotal(0).orElseThrow() - elsewhere.ofTotal(0).orElseThrow()) / total)
                .isCloseTo(0.5 * 2 * Math.sqrt(0.5 / (0.5 * 0.5 * total / 100e6)), within(1e-6))
                .isLessThan(0.25);
    }

    @Test
    void shouldSayNothingOfASingleCall() {
        FunctionProfile function = function(new long[] {1000}, false);

        assertThat(new TotalErrors(List.of(function), sampled).ofTotal(0)).isEmpty();
    }

    @Test
    void shouldBeLessCertainOfASelfTimeThanOfATotal() {
        FunctionProfile caller =
                function(LongStream.range(1, 1000).map(n -> 1000 * n).toArray(), false);
        FunctionProfile callee =
                function(LongStream.range(1, 1000).map(n -> 900 * n).toArray(), false);
        TotalErrors errors = new TotalErrors(List.of(caller, callee), sampled);

        errors.addCallee(new EdgeSums.Estimate(0, 1, CALLS, callee.totalNanos().orElseThrow(), 999), 999);

        assertThat(errors.ofSelf(0).orElseThrow())
                .isGreaterThan(Math.hypot(1, 0.9) * errors.ofTotal(0).orElseThrow() * 0.99);
        assertThat(errors.ofSelf(1)).isEqualTo(errors.ofTotal(1));
    }

    /// A callee whose calls all last as long, and come from one of two callers.
    @Test
    void shouldKnowThatACallersPartIsEstimated() {
        int told = 40;
        double truth = 0.3;
        long[] alike = LongStream.generate(() -> 50_000).limit(told).toArray();
        FunctionProfile caller =
                function(LongStream.of(3, 5).map(n -> n * 10_000_000_000L).toArray(), true);
        FunctionProfile callee = function(alike, false);
        double total = callee.totalNanos().orElseThrow();
        SplittableRandom random = new SplittableRandom(1);
        int covered = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            long hers = random.doubles(told).filter(u -> u < truth).count();
            long nanos = Math.round(total * hers / told);
            TotalErrors errors = new TotalErrors(List.of(caller, callee), sampled);

            errors.addCallee(new EdgeSums.Estimate(0, 1, CALLS * hers / told, nanos, hers), told);

            covered += Math.abs(nanos - total * truth) <= errors.ofSelf(0).orElseThrow() ? 1 : 0;
        }
        assertThat((double) covered / TRIALS).isBetween(0.92, 0.98);
    }

    @Test
    void shouldTakeAllForSomebodyElsesWhereTheCallerIsKnownOfASingleCall() {
        FunctionProfile caller = function(new long[] {3_000_000_000L}, true);
        FunctionProfile callee =
                function(LongStream.generate(() -> 1000).limit(1000).toArray(), true);
        TotalErrors errors = new TotalErrors(List.of(caller, callee), sampled);

        errors.addCallee(new EdgeSums.Estimate(0, 1, 1000, 1_000_000, 1), 1);

        assertThat(errors.ofSelf(0).orElseThrow() - errors.ofTotal(0).orElseThrow())
                .isCloseTo(1_000_000, within(100_000.0));
    }
}
