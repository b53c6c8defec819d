package org.mdlagent.arch.snippet;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.snippet.Expression.Binary;
import org.mdlagent.arch.snippet.Expression.Constant;
import org.mdlagent.arch.snippet.Expression.Load;
import org.mdlagent.arch.snippet.Expression.Member;
import org.mdlagent.arch.snippet.Expression.Operator;
import org.mdlagent.arch.snippet.Expression.Width;
import org.mdlagent.arch.snippet.Statement.Add;

/// What each pass leaves to the next.
class OptimiserTest {
    private static final Expression AREA =
            new Binary(Operator.MULTIPLY, new Load(0x50000, Width.U64), new Load(0x60000, Width.U64));
    private static final Expression SIX = new Binary(Operator.MULTIPLY, new Constant(2), new Constant(3));

    private static final List<Snippet> CHAIN = List.of(
            Snippet.of(new Add(1, SIX)).constrained(new Member(9, 0)),
            Snippet.of(new Add(2, SIX)).constrained(new Member(9, 1)),
            Snippet.of(new Add(11, AREA), new Add(12, AREA)));

    private static final Optimiser.Pass COUNTING = new Optimiser.Pass(
            "cost",
            chain -> Stream.concat(chain.stream(), Stream.of(Snippet.of(new Add(20, SIX))))
                    .toList());

    @Test
    void shouldListWhatEachPassHasMadeInTheirOrder() {
        List<Optimiser.Stage> stages = new Optimiser(Optimisation.all(), COUNTING).stages(CHAIN);

        assertThat(stages)
                .extracting(Optimiser.Stage::pass)
                .containsExactly("vectorisation", "cost", "constants", "common subexpressions");
        assertThat(stages.get(0).chain()).hasSize(2);
        assertThat(print(stages.get(0).chain())).contains("for each of 2").doesNotContain("v20");
        assertThat(stages.get(1).chain()).hasSize(3);
        assertThat(print(stages.get(1).chain())).contains("v20 += 2 * 3");
        assertThat(print(stages.get(2).chain())).contains("v20 += 6").doesNotContain("let");
        assertThat(print(stages.get(3).chain())).contains("let common0 = ");
    }

    @Test
    void shouldEndWithTheLastStage() {
        Optimiser optimiser = new Optimiser(Optimisation.all(), COUNTING);

        assertThat(optimiser.optimise(CHAIN))
                .isEqualTo(optimiser.stages(CHAIN).getLast().chain())
                .isNotEqualTo(CHAIN);
    }

    @Test
    void shouldLeaveOutWhatIsNotWanted() {
        assertThat(new Optimiser(Set.of()).optimise(CHAIN)).isEqualTo(CHAIN);
        assertThat(new Optimiser(EnumSet.of(Optimisation.CONSTANTS)).stages(CHAIN))
                .extracting(Optimiser.Stage::pass)
                .containsExactly("constants");
    }

    private static String print(List<Snippet> chain) {
        return chain.stream()
                .map(snippet -> SnippetPrinter.print(snippet, index -> "v" + index))
                .collect(Collectors.joining());
    }
}
