package org.mdlagent.profiler.report.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.profiler.report.profile.CallEdge;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profiles;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.session.SessionImage;

class EdgeSumsTest {
    @TempDir
    Path directory;

    private static final int OUTER = 0;
    private static final int MIDDLE = 1;
    private static final int INNER = 2;
    private static final int OTHER = 3;

    /// The sample of the two upper ones has none of the long calls of the inner one.
    private final List<FunctionProfile> functions = List.of(
            Profiles.function("outer", 50, 50),
            Profiles.function("middle", 40, 40),
            Profiles.function("inner", 10, 1_000),
            Profiles.function("other", 5));

    private final EdgeSums edges = new EdgeSums(functions.size());

    private static OptionalLong total(FunctionProfile function) {
        return function.totalNanos();
    }

    private static OptionalLong longest(FunctionProfile function) {
        return function.latency().maxNanos();
    }

    @Test
    void shouldGiveNoCallerLessThanItsCalls() throws Exception {
        edges.add(MIDDLE, OUTER, 2, 80, 2);
        edges.add(INNER, MIDDLE, 2, 1_010, 2);
        List<FunctionProfile> raised = raised(functions);
        assertThat(raised)
                .extracting(EdgeSumsTest::total)
                .containsExactly(
                        OptionalLong.of(1_010), OptionalLong.of(1_010), OptionalLong.of(1_010), OptionalLong.of(5));
        assertThat(raised).extracting(EdgeSumsTest::longest).startsWith(OptionalLong.of(1_000), OptionalLong.of(1_000));
    }

    /// Two callers, of four calls that told: one may have made nearly all, or nearly none.
    @Test
    void shouldSayHowFarACallersPartMayBeOff() {
        edges.add(INNER, MIDDLE, 175_000, 10, 2);
        edges.add(INNER, OUTER, 175_000, 10, 2);
        edges.add(OTHER, MIDDLE, 100, 5, 1);

        List<CallEdge> joined = EdgeSums.join(functions, edges.estimates(functions));

        assertThat(joined.subList(0, 2))
                .extracting(edge -> edge.error().orElseThrow())
                .allSatisfy(error -> assertThat(error).isBetween(1.8, 1.9));
        assertThat(joined.getLast().error()).as("of a single call").isEmpty();
    }

    /// Its error is that of a sample of all calls, and the truth is within it in most of them.
    @Test
    void shouldContainTheTrueCallsOfACaller() {
        SplittableRandom random = new SplittableRandom(11);
        FunctionProfile inner = Profiles.function("inner", new long[1000]);
        List<FunctionProfile> many = List.of(functions.get(OUTER), functions.get(MIDDLE), inner, functions.get(OTHER));
        int within = 0;
        for (int trial = 0; trial < 1000; trial++) {
            EdgeSums sample = new EdgeSums(functions.size());
            long told = random.doubles(40).filter(u -> u < 0.3).count();
            if (told == 0) {
                continue;
            }
            sample.add(INNER, MIDDLE, told, 10, told);
            sample.add(INNER, OUTER, 40 - told, 10, 40 - told);
            CallEdge edge = EdgeSums.join(many, sample.estimates(many)).stream()
                    .filter(of -> functions.get(MIDDLE).equals(of.caller()))
                    .findFirst()
                    .orElseThrow();
            double part = told / 40.0;
            within += Math.abs(part - 0.3) <= part * edge.error().orElseThrow() ? 1 : 0;
        }
        assertThat(within).isGreaterThan(900);
    }

    /// A callee that may as well have taken next to nothing says nothing of its caller, nor does one of which nobody
    /// knows how far its time is off.
    @Test
    void shouldRaiseNoCallerByWhatMayBeAnError() throws Exception {
        edges.add(INNER, MIDDLE, 2, 1_010, 2);
        edges.add(OTHER, OUTER, 1, 5, 1);
        List<FunctionProfile> times = new ArrayList<>(functions);
        times.set(INNER, with(INNER, 2, OptionalDouble.of(2), 2, 1_010));
        times.set(OTHER, with(OTHER, 1_000, OptionalDouble.of(0.1), 1, 1_000));
        assertThat(raised(times)).extracting(EdgeSumsTest::total).startsWith(OptionalLong.of(100), OptionalLong.of(80));
    }

    /// One call of a thousand tells little of who made the others, though all were timed.
    @Test
    void shouldRaiseNoCallerByWhatMayBeSomebodyElses() throws Exception {
        edges.add(OTHER, OUTER, 1, 5, 1);
        List<FunctionProfile> times = new ArrayList<>(functions);
        times.set(OTHER, with(OTHER, 1_000, OptionalDouble.empty(), 1_000, 5_000));
        assertThat(total(raised(times).get(OUTER))).hasValue(100);
    }

    @Test
    void shouldShareTimeAmongCallers() throws Exception {
        edges.add(INNER, MIDDLE, 1, 500, 1);
        edges.add(INNER, OTHER, 1, 500, 1);
        List<FunctionProfile> raised = raised(functions);
        assertThat(total(raised.get(MIDDLE))).hasValue(505);
        assertThat(total(raised.get(OTHER))).hasValue(505);
        assertThat(longest(raised.get(MIDDLE)))
                .as("the longest may have been the other's")
                .hasValue(40);
    }

    @Test
    void shouldLeaveAloneWhatIsEnough() throws Exception {
        edges.add(OTHER, OUTER, 1, 5, 1);
        edges.add(INNER, EdgeSums.NONE, 2, 1_010, 2);
        edges.add(MIDDLE, MIDDLE, 1, 40, 1);
        assertThat(raised(functions)).isEqualTo(functions);
    }

    @Test
    void shouldNotRaiseFunctionsThatCallEachOther() throws Exception {
        edges.add(INNER, MIDDLE, 2, 1_010, 2);
        edges.add(MIDDLE, INNER, 1, 40, 1);
        edges.add(MIDDLE, OUTER, 1, 40, 1);
        assertThat(raised(functions)).isEqualTo(functions);
    }

    @Test
    void shouldEndWhereRareCallsCloseACycle() throws Exception {
        edges.add(INNER, MIDDLE, 2, 1_010, 2);
        edges.add(MIDDLE, INNER, 1, 1, 1);
        edges.add(MIDDLE, OUTER, 1, 400, 1);
        assertThat(total(raised(functions).get(MIDDLE))).hasValue(1_010);
    }

    @Test
    void shouldWithholdTheTotalOfFunctionsThatCallThemselvesByWayOfOthers() throws Exception {
        edges.add(MIDDLE, OUTER, 1, 40, 100);
        edges.add(MIDDLE, INNER, 1, 40, 100);
        edges.add(INNER, MIDDLE, 2, 40, 100);
        List<FunctionProfile> known = withSelf();
        assertThat(total(known.get(MIDDLE)))
                .as("half of it may be within itself")
                .isEmpty();
        assertThat(total(known.get(INNER))).isEmpty();
        assertThat(total(known.get(OUTER))).hasValue(100);
        assertThat(known.get(OUTER).selfNanos()).hasValue(60);
    }

    @Test
    void shouldShowTheTotalOfOneThatRarelyCallsItselfByWayOfOthers() throws Exception {
        edges.add(MIDDLE, OUTER, 1, 95, 100);
        edges.add(MIDDLE, INNER, 1, 5, 100);
        edges.add(INNER, MIDDLE, 2, 40, 100);
        assertThat(total(withSelf().get(MIDDLE))).hasValue(80);
    }

    @Test
    void shouldWithholdASelfTimeThatIsASmallDifference() throws Exception {
        edges.add(MIDDLE, MIDDLE, 1, 90, 900);
        edges.add(MIDDLE, OUTER, 1, 10, 100);
        FunctionProfile middle = withSelf().get(MIDDLE);
        assertThat(total(middle)).hasValue(8);
        assertThat(middle.shownSelfNanos()).isEmpty();
    }

    @Test
    void shouldTellNothingOfOneOfWhichFewOutermostCallsWereLookedAt() throws Exception {
        edges.add(MIDDLE, MIDDLE, 1, 50, 900);
        edges.add(MIDDLE, OUTER, 1, 50, 29);
        FunctionProfile middle = withSelf().get(MIDDLE);
        assertThat(total(middle)).isEmpty();
        assertThat(middle.shownSelfNanos()).isEmpty();
    }

    @Test
    void shouldTellHowLittleIsKnownWhereMostOfTheTimeIsOfNestedCalls() throws Exception {
        edges.add(MIDDLE, MIDDLE, 1, 90, 900);
        edges.add(MIDDLE, OUTER, 1, 10, 100);
        List<FunctionProfile> half = new ArrayList<>(functions);
        half.set(MIDDLE, with(MIDDLE, 100, OptionalDouble.of(0.1), 50, 100_000));
        FunctionProfile known = withSelf(half).get(MIDDLE);
        assertThat(total(known)).hasValue(10_000);
        assertThat(known.times().totalError().orElseThrow())
                .as("of the time of all calls, relative to the tenth that is left")
                .isGreaterThan(1);
        assertThat(known.shownTotalNanos()).isEmpty();
    }

    private static boolean isGuess(FunctionProfile function) {
        return Double.isInfinite(function.times().selfError().orElse(0));
    }

    @Test
    void shouldWithholdTheSelfTimeOfACallerWhoseCallsOfARecursiveFunctionWereHardlyLookedAt() throws Exception {
        edges.add(MIDDLE, MIDDLE, 1, 60, 900);
        edges.add(MIDDLE, OTHER, 1, 20, 100);
        edges.add(MIDDLE, OUTER, 1, 20, 29);
        assertThat(withSelf()).extracting(EdgeSumsTest::isGuess).containsExactly(true, false, false, false);
    }

    @Test
    void shouldShowTheSelfTimeOfCallersWhoseCallsWereLookedAt() throws Exception {
        edges.add(MIDDLE, MIDDLE, 1, 60, 900);
        edges.add(MIDDLE, OUTER, 1, 20, 30);
        assertThat(withSelf()).extracting(EdgeSumsTest::isGuess).containsOnly(false);
    }

    @Test
    void shouldShowTheSelfTimeOfACallerThatARecursiveFunctionCannotChange() throws Exception {
        edges.add(OTHER, OTHER, 1, 60, 900);
        edges.add(OTHER, OUTER, 1, 20, 29);
        assertThat(withSelf()).extracting(EdgeSumsTest::isGuess).containsExactly(false, false, false, true);
    }

    @Test
    void shouldWithholdTheSelfTimeOfWhatMayBeTheCallerOfARecursiveFunction() throws Exception {
        edges.add(MIDDLE, MIDDLE, 1, 60, 900);
        assertThat(withSelf())
                .extracting(EdgeSumsTest::isGuess)
                .as("to the inner one it makes no difference, and calls of the last are too short")
                .containsExactly(true, true, false, false);
    }

    /// How long a callee took is known of one of its calls alone, and not how far that may be off.
    @Test
    void shouldWithholdTheSelfTimeOfACallerOfWhatNobodyKnows() throws Exception {
        edges.add(MIDDLE, OUTER, 1, 40, 1);
        List<FunctionProfile> times = new ArrayList<>(functions);
        times.set(OUTER, with(OUTER, 2, OptionalDouble.empty(), 2, 200_000));
        times.set(MIDDLE, with(MIDDLE, 2, OptionalDouble.of(0.1), 1, 40));
        List<FunctionProfile> known = withSelf(times);
        assertThat(known).extracting(EdgeSumsTest::isGuess).containsExactly(true, false, false, false);
        assertThat(known.get(OUTER).shownSelfNanos()).isEmpty();
        assertThat(known.get(OUTER).shownTotalNanos()).isPresent();
    }

    /// One of the functions, with other figures.
    private FunctionProfile with(int function, long calls, OptionalDouble callsError, long sampled, long nanos) {
        FunctionProfile one = functions.get(function);
        return one.with(
                calls,
                callsError,
                sampled,
                one.latency(),
                FunctionProfile.Times.of(OptionalLong.of(nanos), OptionalLong.empty()));
    }

    private TotalErrors errors(List<FunctionProfile> functions) throws Exception {
        SessionFacts sampled =
                Profiles.read(SessionImage.sampledSample(), directory).session();
        return new TotalErrors(functions, sampled);
    }

    private List<FunctionProfile> raised(List<FunctionProfile> functions) throws Exception {
        return edges.raised(functions, errors(functions));
    }

    private List<FunctionProfile> withSelf() throws Exception {
        return withSelf(functions);
    }

    private List<FunctionProfile> withSelf(List<FunctionProfile> functions) throws Exception {
        return edges.withSelf(functions, edges.estimates(functions), errors(functions), false);
    }
}
