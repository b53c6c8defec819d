package org.mdlagent.profiler.report.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.profiler.report.format.SeriesJson;
import org.mdlagent.profiler.report.format.SeriesTable;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profiles;
import org.mdlagent.profiler.report.profile.Run;
import org.mdlagent.profiler.report.profile.RunProfile;

/// SciPy is the truth where numbers are given; where rates are, a machine whose runs differ from each other.
class SeriesComparisonTest {
    private static final double THRESHOLD_PERCENT = 2;
    private static final int FUNCTIONS = 12;
    private static final long RUN_NANOS = 1_000_000_000;
    private static final int CALLS = 400;

    /// As numpy computes them: the means of the four smallest logarithms, Yuen's error of these, and
    /// scipy.stats.t.ppf(0.975, 6).
    @Test
    void shouldKnowTheErrorOfAChange() {
        double[] before = {100, 103, 99, 101, 98};
        double[] after = {108, 112, 109, 115, 107};

        SeriesTest test = SeriesTest.of(before, after);

        assertThat(test.changePercent()).isCloseTo(9.5386, within(0.001));
        assertThat(test.lowPercent()).isCloseTo(5.776, within(0.05));
        assertThat(test.highPercent()).isCloseTo(13.435, within(0.05));
    }

    /// scipy.stats.permutation_test of one figure whose halves do not overlap: 1 of 252 divisions.
    @Test
    void shouldCountTheDivisionsThatShowAsMuch() {
        double[] before = {0.00, 0.03, 0.01, 0.02, 0.04};
        double[] after = {0.11, 0.15, 0.10, 0.12, 0.13};
        double[] mixed = {0.00, 0.15, 0.02, 0.12, 0.05};
        RunPermutations permutations = new RunPermutations(5);

        assertThat(permutations.grown(List.of(before), List.of(after)).levels()[0])
                .isEqualTo(1 / 252.0);
        assertThat(permutations.grown(List.of(after), List.of(before)).levels()[0])
                .isEqualTo(1);
        double[] levels = permutations
                .grown(List.of(before, before), List.of(after, mixed))
                .levels();
        assertThat(levels[0]).isEqualTo(1 / 252.0);
        assertThat(levels[1]).isBetween(0.1, 0.5);
        assertThat(new RunPermutations(10)
                        .grown(List.of(twice(before)), List.of(twice(after)))
                        .levels()[0])
                .isEqualTo(1 / 5_000.0);
    }

    private static double[] twice(double[] values) {
        return DoubleStream.concat(DoubleStream.of(values), DoubleStream.of(values))
                .toArray();
    }

    @Test
    void shouldTakeTheMiddleHalfForATypicalCall() {
        FunctionProfile waited = Profiles.function("f", 50, 100, 100, 100, 100, 100, 100, 1_000_000);

        assertThat(waited.latency().middleMeanNanos()).isCloseTo(100, within(1.0));
    }

    /// A machine whose speed drifts from run to run, and on which some runs are disturbed; functions vary beside that,
    /// and calls wait for other programs now and then. Runs of one build differ by 1.7 times the spread.
    private static final class Machine {
        private final SplittableRandom random;
        private final double spread;
        private final boolean shared;
        private double drift;

        Machine(long seed, double spread) {
            this(seed, spread, false);
        }

        /// @param shared whether one in four runs is much slower, as other programs need the processors
        Machine(long seed, double spread, boolean shared) {
            random = new SplittableRandom(seed);
            this.spread = spread;
            this.shared = shared;
        }

        RunProfile run(double factorOfFirst) {
            drift = 0.7 * drift + spread * random.nextGaussian();
            double disturbed = random.nextInt(10) == 0 ? 5 * spread * random.nextDouble() : 0;
            boolean isShared = shared && random.nextInt(4) == 0;
            double speed = Math.exp(drift + disturbed + (isShared ? 0.6 * random.nextDouble() : 0));
            List<FunctionProfile> functions = new ArrayList<>();
            double total = 0;
            for (int i = 0; i < FUNCTIONS; i++) {
                double mean = 20_000.0 * (i + 1) * (i == 0 ? factorOfFirst : 1);
                double factor = speed * Math.exp(spread / 2 * random.nextGaussian());
                long[] nanos = IntStream.range(0, CALLS)
                        .mapToLong(call -> Math.round(mean * factor * Math.exp(0.06 * random.nextGaussian()))
                                + (random.nextInt(1_000) == 0 ? 4_000_000 : 0))
                        .toArray();
                functions.add(Profiles.function("f" + i, nanos));
                total += CALLS * mean * factor;
            }
            Run like = ComparisonTest.run("app-1-20231114T221320");
            Run run = new Run(
                    like.id(),
                    like.program(),
                    Instant.EPOCH,
                    OptionalLong.of(RUN_NANOS),
                    OptionalLong.of(Math.round(total)),
                    true,
                    false,
                    Map.of());
            return new RunProfile(run, functions);
        }

        /// A B B A A B B A ...
        SeriesComparison compare(int runs, double factorOfFirst) {
            List<RunProfile> before = new ArrayList<>();
            List<RunProfile> after = new ArrayList<>();
            for (int i = 0; i < runs; i++) {
                boolean beforeFirst = i % 2 == 0;
                for (boolean isBefore : new boolean[] {beforeFirst, !beforeFirst}) {
                    (isBefore ? before : after).add(run(isBefore ? 1 : factorOfFirst));
                }
            }
            return SeriesComparison.of(before, after, THRESHOLD_PERCENT);
        }
    }

    /// 0 of 40 are asked for.
    @ParameterizedTest
    @CsvSource({"5, 0.01, false", "5, 0.05, true", "10, 0.02, true", "10, 0.1, false"})
    void shouldNotCallEqualBuildsSlower(int runs, double spread, boolean shared) {
        Machine machine = new Machine(runs, spread, shared);
        int alarms = 0;
        for (int i = 0; i < 100; i++) {
            alarms += machine.compare(runs, 1).isSlower() ? 1 : 0;
        }
        assertThat(alarms).isLessThanOrEqualTo(1);
    }

    /// 19 of 20 are asked for.
    @ParameterizedTest
    @CsvSource({"5, 0.004, false", "10, 0.01, false", "10, 0.005, true", "20, 0.01, true"})
    void shouldFindAFunctionThatIsSlowerByTenPercent(int runs, double spread, boolean shared) {
        Machine machine = new Machine(runs, spread, shared);
        int found = 0;
        for (int i = 0; i < 100; i++) {
            found += machine.compare(runs, 1.1).changes().stream()
                            .filter(SeriesChange::isSlower)
                            .anyMatch(change -> change.function().name().equals("f0"))
                    ? 1
                    : 0;
        }
        assertThat(found).isGreaterThanOrEqualTo(95);
    }

    @Test
    void shouldForgiveLessThanTheThresholdHoweverCertainItIs() {
        assertThat(new Machine(1, 0.001).compare(10, 1.01).isSlower()).isFalse();
    }

    @Test
    void shouldTestWhatEveryRunHasTimedAndTakesTime() {
        RunProfile run = new Machine(1, 0.01).run(1);
        List<FunctionProfile> more = new ArrayList<>(run.functions());
        more.add(Profiles.function("rare", 10, 11, 12));
        RunProfile once = new RunProfile(run.run(), more);
        more.add(Profiles.function("once", 100_000_000, 100_000_000));
        RunProfile twice = new RunProfile(run.run(), more);

        SeriesComparison comparison =
                SeriesComparison.of(List.of(once, once, once, once, once), List.of(once, once, once, once, twice), 0);

        assertThat(comparison.changes()).hasSize(FUNCTIONS);
        assertThat(comparison.untested()).isEqualTo(2);
        assertThat(comparison.isSlower()).isFalse();
    }

    @Test
    void shouldSayWhatHasChangedAndWhatSuchRunsShow() throws IOException {
        SeriesComparison comparison = new Machine(4, 0.005).compare(5, 1.3);
        StringBuilder table = new StringBuilder();

        new SeriesTable(3, false).write(comparison, table);

        List<String> lines = table.toString().lines().toList();
        assertThat(lines.get(0)).isEqualTo("A  app · 5 runs · exact · build -");
        assertThat(lines.get(2)).startsWith("FUNCTION ").contains("TYPICAL", "NOW", "CHANGE");
        assertThat(lines.get(3)).startsWith("(program) ").contains("±");
        assertThat(lines.get(4)).startsWith("f0 ").containsPattern("\\+(29|3\\d)\\.\\d% ±\\d\\.\\d slower");
        assertThat(lines)
                .contains(
                        "12 of 12 functions tested · 3 shown (--limit) · ± half of the 95 % interval, in percentage points")
                .anyMatch(line -> line.startsWith("slower by more than 2.0 % (--threshold): 1 function · equal builds"))
                .anyMatch(line -> line.startsWith("these runs show a slowdown of "));
    }

    @Test
    void shouldGiveScriptsWhatPeopleSee() throws IOException {
        StringBuilder json = new StringBuilder();

        SeriesJson.write(new Machine(5, 0.005).compare(5, 1.3), 1, json);

        JsonNode root = new ObjectMapper().readTree(json.toString());
        assertThat(root.at("/slower").asBoolean()).isTrue();
        assertThat(root.at("/before")).hasSize(5);
        assertThat(root.at("/functions")).hasSize(1);
        JsonNode typical = root.at("/functions/0/typical");
        assertThat(typical.at("/verdict").asText()).isEqualTo("slower");
        assertThat(typical.at("/slowerLevel").asDouble()).isLessThan(0.01);
        assertThat(typical.at("/lowPercent").asDouble())
                .isBetween(20.0, typical.at("/changePercent").asDouble());
        assertThat(root.at("/functions/0/calls/after").asDouble()).isEqualTo(CALLS);
    }
}
