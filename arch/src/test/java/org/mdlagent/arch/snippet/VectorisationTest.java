package org.mdlagent.arch.snippet;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.site.Body;
import org.mdlagent.arch.snippet.Expression.Compare;
import org.mdlagent.arch.snippet.Expression.Constant;
import org.mdlagent.arch.snippet.Expression.Member;
import org.mdlagent.arch.snippet.Expression.Relation;
import org.mdlagent.arch.snippet.Expression.Value;
import org.mdlagent.arch.snippet.Statement.Add;
import org.mdlagent.arch.snippet.Statement.Clock;
import org.mdlagent.arch.snippet.Statement.ForEach;
import org.mdlagent.arch.snippet.Statement.ForSelected;
import org.mdlagent.arch.snippet.Statement.If;
import org.mdlagent.arch.snippet.Statement.Start;
import org.mdlagent.arch.snippet.Statement.Store;

class VectorisationTest {
    private static final int SET = 40;
    private static final int VALUES = 80;
    private static final int CASES = 20_000;

    private final SplittableRandom random = new SplittableRandom(20_261_121);

    @Test
    void shouldMakeOneSnippetOfManyCounters() {
        List<Snippet> chain = new ArrayList<>();
        for (int bit = 0; bit < 64; bit++) {
            chain.add(count(bit, 100 + bit));
        }

        assertThat(Vectorisation.vectorise(chain))
                .containsExactly(Snippet.of(
                        new ForEach(new Member(SET, 0), -1, 100, 1, List.of(new Add(100, new Constant(1))))));
    }

    /// As they are made when metrics come in any order, and some of them go again.
    @Test
    void shouldMakeOneSnippetOfTimersInAnyOrder() {
        List<Snippet> chain = new ArrayList<>();
        for (int bit : new int[] {7, 2, 31}) {
            chain.add(Snippet.of(new Start(200 + 3 * bit, Clock.WALL)).constrained(new Member(SET, bit)));
        }

        assertThat(Vectorisation.vectorise(chain))
                .containsExactly(Snippet.of(new ForEach(
                        new Member(SET, 7), 1L << 7 | 1 << 2 | 1L << 31, 221, 3, List.of(new Start(221, Clock.WALL)))));
    }

    /// Whether a later one or an earlier one is next does not matter.
    @Test
    void shouldMakeOneSnippetOfInstancesOfWhichAValueNamesOne() {
        List<Snippet> chain = new ArrayList<>();
        for (int number : new int[] {5, 6, 4, 7, 3}) {
            chain.add(selected(number, 100 + 3 * number));
        }

        assertThat(Vectorisation.vectorise(chain))
                .containsExactly(
                        Snippet.of(new ForSelected(SET, 3, 5, 109, 3, List.of(new Add(109, new Constant(1))))));
    }

    /// Nobody's values may lie where an instance is missing.
    @Test
    void shouldLeaveOutInstancesThatAreNotThere() {
        List<Snippet> chain = List.of(selected(1, 101), selected(2, 102), selected(4, 104), selected(5, 105));

        assertThat(Vectorisation.vectorise(chain))
                .containsExactly(
                        Snippet.of(new ForSelected(SET, 1, 2, 101, 1, List.of(new Add(101, new Constant(1))))),
                        Snippet.of(new ForSelected(SET, 4, 2, 104, 1, List.of(new Add(104, new Constant(1))))));
    }

    private static Snippet selected(int number, int counter) {
        return Snippet.of(new Add(counter, new Constant(1)))
                .constrained(new Compare(Relation.EQUAL, new Value(SET), new Constant(number)));
    }

    @Test
    void shouldNotMovePastWhatChangesTheSet() {
        Snippet clear = Snippet.of(new Store(SET, new Constant(0)));
        List<Snippet> chain = List.of(count(0, 1), clear, count(1, 2));

        assertThat(Vectorisation.vectorise(chain)).isEqualTo(chain);
    }

    @Test
    void shouldLeaveAloneWhatIsNotTheSame() {
        Snippet other = Snippet.of(new Add(2, new Constant(2))).constrained(new Member(SET, 1));
        Snippet ofAnotherSet = Snippet.of(new Add(3, new Constant(1))).constrained(new Member(SET + 1, 2));
        Snippet backward = count(4, 0 + 1);
        List<Snippet> chain = List.of(count(3, 20), other, ofAnotherSet, backward, count(3, 20));

        assertThat(Vectorisation.vectorise(chain)).isEqualTo(chain);
    }

    private static Snippet count(int bit, int counter) {
        return Snippet.of(new Add(counter, new Constant(1))).constrained(new Member(SET, bit));
    }

    /// Chains that are full of what looks alike.
    @Test
    void shouldDoWhatSnippetsSay() {
        RandomSnippets others = new RandomSnippets(random, Body.ENTRY, 0);
        int shorter = 0;
        for (int i = 0; i < CASES; i++) {
            List<Snippet> chain = new ArrayList<>();
            for (int j = 0; j < 8; j++) {
                chain.add(random.nextInt(6) == 0 ? others.next() : alike());
            }
            List<Snippet> vectorised = Vectorisation.vectorise(chain);
            shorter += chain.size() - vectorised.size();
            long[] values = random.longs(VALUES, -3, 8).toArray();
            assertThat(after(vectorised, values)).as("%s", chain).isEqualTo(after(chain, values));
        }
        assertThat(shorter).isGreaterThan(CASES / 2);
    }

    /// Mostly values 20 to 25 for bits 0 to 5, and mostly of one set.
    private Snippet alike() {
        int bit = random.nextInt(6);
        int value = 20 + bit + (random.nextInt(8) == 0 ? random.nextInt(3) : 0);
        Statement body = random.nextInt(4) == 0
                ? new If(new Value(random.nextInt(2) == 0 ? value : 30), List.of(new Add(value, new Value(31))))
                : new Add(value, new Constant(random.nextInt(8) == 0 ? 2 : 1));
        int set = random.nextInt(8) == 0 ? 22 : SET;
        return Snippet.of(body)
                .constrained(
                        random.nextBoolean()
                                ? new Member(set, bit)
                                : new Compare(Relation.EQUAL, new Value(set), new Constant(bit)));
    }

    private static long[] after(List<Snippet> chain, long[] values) {
        long[] changed = Arrays.copyOf(values, values.length);
        Interpreter interpreter = new Interpreter(changed, new long[6], 0, 0, Map.of(), RandomSnippets::callee);
        chain.forEach(interpreter::run);
        return changed;
    }
}
