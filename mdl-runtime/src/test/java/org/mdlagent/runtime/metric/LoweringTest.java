package org.mdlagent.runtime.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.snippet.Expression;
import org.mdlagent.arch.snippet.Snippet;
import org.mdlagent.arch.snippet.Statement;
import org.mdlagent.runtime.mdl.request.Point;
import org.mdlagent.runtime.mdl.request.Procedure;
import org.mdlagent.runtime.mdl.request.SnippetExpression;
import org.mdlagent.runtime.mdl.request.SnippetRequest;
import org.mdlagent.runtime.mdl.request.Symbol;
import org.mdlagent.runtime.mdl.request.Value;
import org.mdlagent.runtime.mdl.syntax.Operator;
import org.mdlagent.runtime.mdl.syntax.Statement.Order;
import org.mdlagent.runtime.mdl.syntax.Statement.Side;
import org.mdlagent.runtime.mdl.syntax.ValueKind;

class LoweringTest {
    private static final Value COUNTER = new Value("c", ValueKind.COUNTER, "m");
    private static final Value TIMER = new Value("t", ValueKind.WALL_TIMER, "m");
    private static final Value FIRST = new Value("f", ValueKind.COUNTER, "/Code/a.c");
    private static final Value SECOND = new Value("g", ValueKind.COUNTER, "/Thread/5");
    private static final List<Value> VALUES = List.of(COUNTER, TIMER, FIRST, SECOND);
    private static final int ERRORS = 9;
    private static final Procedure FOO = new Procedure(0, "foo", "foo", "a.c", "/bin/p");

    /// Texts stand at addresses that tell their lengths.
    private record Memory(Map<Value, Expression.Member> members) implements Lowering.Storage {
        @Override
        public int index(Value value) {
            return 1 + VALUES.indexOf(value);
        }

        @Override
        public Optional<Expression.Member> member(Value flag) {
            return Optional.ofNullable(members.get(flag));
        }

        @Override
        public int errors() {
            return ERRORS;
        }

        @Override
        public long text(String text) {
            return 0x7000 + text.length();
        }
    }

    private static Snippet lower(List<Value> guards, @Nullable SnippetExpression condition, SnippetExpression effect)
            throws Exception {
        return lower(guards, condition, effect, Map.of());
    }

    private static Snippet lower(
            List<Value> guards,
            @Nullable SnippetExpression condition,
            SnippetExpression effect,
            Map<Value, Expression.Member> members)
            throws Exception {
        return new Lowering(new Memory(members))
                .lower(new SnippetRequest(
                        new Point.Entry(FOO),
                        Side.BEFORE,
                        Order.APPEND,
                        guards,
                        List.of(step(condition, new SnippetRequest.Run(effect)))));
    }

    private static SnippetRequest.Step step(@Nullable SnippetExpression condition, SnippetRequest.Step step) {
        return condition == null ? step : new SnippetRequest.If(condition, List.of(step));
    }

    @Test
    void shouldKeepTheStatementsOfABlockTogether() throws Exception {
        SnippetRequest.Step start = new SnippetRequest.Run(new SnippetExpression.Start(TIMER));
        SnippetRequest.Step add =
                new SnippetRequest.Run(new SnippetExpression.Add(COUNTER, new SnippetExpression.Constant(2)));
        SnippetExpression argument = new SnippetExpression.Argument(0);
        SnippetRequest.Step inner = new SnippetRequest.If(new SnippetExpression.Result(), List.of(add, add));

        Snippet snippet = new Lowering(new Memory(Map.of()))
                .lower(new SnippetRequest(
                        new Point.Entry(FOO),
                        Side.BEFORE,
                        Order.APPEND,
                        List.of(),
                        List.of(new SnippetRequest.If(argument, List.of(start, inner)), add)));

        Statement adds = new Statement.Add(1, new Expression.Constant(2));
        assertThat(snippet.statements())
                .containsExactly(
                        new Statement.If(
                                new Expression.Argument(0),
                                List.of(
                                        new Statement.Start(2, Statement.Clock.WALL),
                                        new Statement.If(new Expression.Result(), List.of(adds, adds)))),
                        adds);
    }

    @Test
    void shouldTestEachFlagAndTheCondition() throws Exception {
        Snippet snippet = lower(
                List.of(FIRST, SECOND),
                new SnippetExpression.Binary(
                        Operator.LESS_EQUAL, new SnippetExpression.Argument(2), new SnippetExpression.Constant(7)),
                new SnippetExpression.Start(TIMER));

        Statement body = new Statement.If(
                new Expression.Compare(
                        Expression.Relation.LESS_OR_EQUAL, new Expression.Argument(2), new Expression.Constant(7)),
                List.of(new Statement.Start(2, Statement.Clock.WALL)));
        assertThat(snippet).isEqualTo(Snippet.of(body).constrained(3).constrained(4));
    }

    @Test
    void shouldKeepTheSetOfAFlagAndTestIt() throws Exception {
        Expression.Member member = new Expression.Member(20, 5);
        Map<Value, Expression.Member> members = Map.of(FIRST, member);
        SnippetExpression one = new SnippetExpression.Constant(1);
        Statement increment = new Statement.Add(3, new Expression.Constant(1));

        assertThat(lower(List.of(), null, new SnippetExpression.Add(FIRST, one), members))
                .isEqualTo(Snippet.of(increment, new Statement.Mark(3, member)));
        assertThat(lower(List.of(FIRST), null, new SnippetExpression.Add(COUNTER, one), members))
                .isEqualTo(Snippet.of(new Statement.Add(1, new Expression.Constant(1)))
                        .constrained(member));
    }

    @Test
    void shouldCountDivisionsByZeroAsErrors() throws Exception {
        SnippetExpression global = new SnippetExpression.Global(new Symbol("size", 0x1000, 4, true));

        assertThat(lower(
                        List.of(),
                        null,
                        new SnippetExpression.Add(
                                COUNTER,
                                new SnippetExpression.Binary(Operator.DIVIDE, new SnippetExpression.Result(), global))))
                .isEqualTo(Snippet.of(new Statement.Add(
                        1,
                        new Expression.Divide(
                                new Expression.Result(), new Expression.Load(0x1000, Expression.Width.S32), ERRORS))));
    }

    @Test
    void shouldCountMemoryThatCannotBeReadAsAnError() throws Exception {
        SnippetExpression memory = new SnippetExpression.Memory(new SnippetExpression.Argument(1));

        assertThat(lower(List.of(), null, new SnippetExpression.Store(COUNTER, memory)))
                .isEqualTo(Snippet.of(new Statement.Store(1, new Expression.Read(new Expression.Argument(1), ERRORS))));
    }

    @Test
    void shouldCallFunctionsWithNumbersAndTexts() throws Exception {
        SnippetExpression.Call call = new SnippetExpression.Call(
                new Symbol("report", 0x2000, 8, false),
                List.of(
                        new SnippetExpression.Text("start"),
                        new SnippetExpression.Load(COUNTER),
                        new SnippetExpression.Argument(3)));
        Expression.Call lowered = new Expression.Call(
                0x2000,
                List.of(new Expression.Constant(0x7005), new Expression.Value(1), new Expression.Argument(3)),
                ERRORS);

        assertThat(lower(List.of(), null, call)).isEqualTo(Snippet.of(new Statement.Run(lowered)));
        assertThat(lower(List.of(), null, new SnippetExpression.Add(COUNTER, call)))
                .isEqualTo(Snippet.of(new Statement.Add(1, lowered)));
    }

    @Test
    void shouldNameWhatMachineCodeHasNot() {
        SnippetExpression text = new SnippetExpression.Text("start");

        assertThatThrownBy(() -> lower(List.of(), null, new SnippetExpression.Add(COUNTER, text)))
                .hasMessageContaining("a string that is no argument");
    }
}
