package org.mdlagent.arch.snippet;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.site.Body;
import org.mdlagent.arch.snippet.Expression.Argument;
import org.mdlagent.arch.snippet.Expression.Binary;
import org.mdlagent.arch.snippet.Expression.Common;
import org.mdlagent.arch.snippet.Expression.Divide;
import org.mdlagent.arch.snippet.Expression.Operator;
import org.mdlagent.arch.snippet.Expression.Value;
import org.mdlagent.arch.snippet.Statement.Add;
import org.mdlagent.arch.snippet.Statement.If;
import org.mdlagent.arch.snippet.Statement.Let;

class CommonSubexpressionsTest {
    private static final int CASES = 20_000;
    private static final Expression BYTES = new Binary(Operator.MULTIPLY, new Argument(1), new Argument(2));
    private static final Snippet SUM = Snippet.of(new Add(1, BYTES));
    private static final Snippet SUM_BEHIND_FLAG = Snippet.of(new Add(2, BYTES)).constrained(9);

    private final SplittableRandom random = new SplittableRandom(20_261_121);

    @Test
    void shouldComputeOnceWhatIsComputedInAnyCase() {
        assertThat(CommonSubexpressions.share(List.of(SUM_BEHIND_FLAG, SUM)))
                .containsExactly(
                        Snippet.of(new Let(0, BYTES)),
                        Snippet.of(new Add(2, new Common(0))).constrained(9),
                        Snippet.of(new Add(1, new Common(0))));
    }

    @Test
    void shouldNotComputeWhatMayNotBeNeeded() {
        List<Snippet> chain = List.of(SUM_BEHIND_FLAG, SUM_BEHIND_FLAG);

        assertThat(CommonSubexpressions.share(chain)).isEqualTo(chain);
    }

    @Test
    void shouldLeaveWhatChanges() {
        Expression next = new Binary(Operator.MULTIPLY, new Argument(0), new Binary(Operator.ADD, new Value(1), BYTES));
        Expression failing = new Divide(next, new Value(3), 4);
        List<Snippet> chain =
                List.of(Snippet.of(new Add(1, next)), Snippet.of(new Add(1, failing)), Snippet.of(new Add(2, failing)));

        List<Snippet> shared = CommonSubexpressions.share(chain);

        assertThat(shared.getFirst()).isEqualTo(Snippet.of(new Let(0, BYTES)));
        assertThat(shared).hasSize(4);
    }

    @Test
    void shouldDoWhatSnippetsSay() {
        RandomSnippets snippets = new RandomSnippets(random, Body.FUNCTION_ENTRY, 0x1000, 0x2000);
        int shorter = 0;
        for (int i = 0; i < CASES; i++) {
            Snippet first = snippets.next();
            List<Snippet> chain =
                    List.of(first, snippets.next(), Snippet.of(new If(new Value(20), first.statements())));
            List<Snippet> shared = CommonSubexpressions.share(chain);
            shorter += shared.size() > chain.size() ? 1 : 0;
            long[] values = random.longs(RandomSnippets.VALUES + 1, -3, 8).toArray();
            long[] arguments = random.longs(Argument.COUNT).toArray();
            assertThat(after(shared, values, arguments)).as("%s", chain).isEqualTo(after(chain, values, arguments));
        }
        assertThat(shorter).isGreaterThan(CASES / 100);
    }

    private static long[] after(List<Snippet> chain, long[] values, long[] arguments) {
        long[] changed = Arrays.copyOf(values, values.length);
        Interpreter interpreter =
                new Interpreter(changed, arguments, 0, 0, Map.of(0x1000L, 5L, 0x2000L, -7L), RandomSnippets::callee);
        chain.forEach(interpreter::run);
        return changed;
    }
}
