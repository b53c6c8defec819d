package org.mdlagent.profiler.report.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profiles;

class EdgeSumsTest {
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
    void shouldGiveNoCallerLessThanItsCalls() {
        edges.add(MIDDLE, OUTER, 2, 80, 2);
        edges.add(INNER, MIDDLE, 2, 1_010, 2);
        List<FunctionProfile> raised = edges.raised(functions);
        assertThat(raised)
                .extracting(EdgeSumsTest::total)
                .containsExactly(
                        OptionalLong.of(1_010), OptionalLong.of(1_010), OptionalLong.of(1_010), OptionalLong.of(5));
        assertThat(raised).extracting(EdgeSumsTest::longest).startsWith(OptionalLong.of(1_000), OptionalLong.of(1_000));
    }

    @Test
    void shouldShareTimeAmongCallers() {
        edges.add(INNER, MIDDLE, 1, 500, 1);
        edges.add(INNER, OTHER, 1, 500, 1);
        List<FunctionProfile> raised = edges.raised(functions);
        assertThat(total(raised.get(MIDDLE))).hasValue(505);
        assertThat(total(raised.get(OTHER))).hasValue(505);
        assertThat(longest(raised.get(MIDDLE)))
                .as("the longest may have been the other's")
                .hasValue(40);
    }

    @Test
    void shouldLeaveAloneWhatIsEnough() {
        edges.add(OTHER, OUTER, 1, 5, 1);
        edges.add(INNER, EdgeSums.NONE, 2, 1_010, 2);
        edges.add(MIDDLE, MIDDLE, 1, 40, 1);
        assertThat(edges.raised(functions)).isEqualTo(functions);
    }

    @Test
    void shouldEndWhereFunctionsCallEachOther() {
        edges.add(INNER, MIDDLE, 2, 1_010, 2);
        edges.add(MIDDLE, INNER, 1, 40, 1);
        edges.add(MIDDLE, OUTER, 1, 40, 1);
        assertThat(total(edges.raised(functions).get(MIDDLE))).hasValue(1_010);
    }
}
