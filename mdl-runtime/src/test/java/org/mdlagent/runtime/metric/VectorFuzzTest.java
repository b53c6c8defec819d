package org.mdlagent.runtime.metric;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.snippet.Expression;
import org.mdlagent.arch.snippet.Statement;
import org.mdlagent.runtime.mdl.Compilation;
import org.mdlagent.runtime.mdl.Definitions;
import org.mdlagent.runtime.mdl.request.Answer;
import org.mdlagent.runtime.mdl.request.Evaluator;
import org.mdlagent.runtime.mdl.request.FakeProgram;
import org.mdlagent.runtime.mdl.request.Focus;
import org.mdlagent.runtime.mdl.request.Resource;
import org.mdlagent.runtime.mdl.request.Value;
import org.mdlagent.runtime.mdl.syntax.SourceFile;

/// Vectors with functions made at random: the value that stands for their flags says what the flags would have said.
///
/// `-Dmdl.fuzz.cases=N` sets the number of cases, `-Dmdl.fuzz.seed=S` where they start.
class VectorFuzzTest {
    private static final int CASES = Integer.getInteger("mdl.fuzz.cases", 2_000);
    private static final long SEED = Long.getLong("mdl.fuzz.seed", 1);
    private static final int DEPTH = 3;
    private static final List<Long> OBJECTS = List.of(0L, 1L, 2L, 3L, 4L, 6L, 9L, 12L);

    private static final String TEXT = """
            constraint c /SyncObject/Thing is %s {
                append preInsn $start.entry (* c = %s; *)
                prepend preInsn $start.return (* c = 0; *)
            }
            metric m {
                name "m"; units things; aggregateOperator sum; constraint c;
                base is counter { append preInsn $start.entry constrained (* m++; *) }
            }
            """;

    private final FakeProgram program = new FakeProgram().with("p.c", "/bin/p", "main");

    private record Function(String text, ToLongFunction<long[]> value) {}

    @Test
    void shouldSelectTheObjectThatTheFunctionYields() throws Exception {
        int selected = 0;
        for (int i = 0; i < CASES; i++) {
            SplittableRandom random = new SplittableRandom(SEED + i);
            Function function = function(random, DEPTH);
            String compared =
                    random.nextBoolean() ? function.text + " == $constraint[0]" : "$constraint[0] == " + function.text;
            String kind = List.of("counter", "vector direct", "vector hashed").get(random.nextInt(3));
            long[] arguments = {random.nextInt(5), random.nextInt(5)};

            long actual = selected(TEXT.formatted(kind, compared), kind, arguments);

            int expected = OBJECTS.indexOf(function.value.applyAsLong(arguments));
            assertThat(actual).as("case with seed %d: %s", SEED + i, compared).isEqualTo(expected + 2);
            selected += expected >= 0 ? 1 : 0;
        }
        assertThat(selected).isBetween(CASES / 10, CASES * 9 / 10);
    }

    private static Function function(SplittableRandom random, int depth) {
        if (depth == 0 || random.nextInt(4) == 0) {
            int number = random.nextInt(4);
            return random.nextInt(3) == 0
                    ? new Function(Integer.toString(number), arguments -> number)
                    : new Function("$arg[" + number % 2 + "]", arguments -> arguments[number % 2]);
        }
        Function left = function(random, depth - 1);
        Function right = function(random, depth - 1);
        return switch (random.nextInt(4)) {
            case 0 ->
                new Function(
                        "(" + left.text + " + " + right.text + ")",
                        arguments -> left.value.applyAsLong(arguments) + right.value.applyAsLong(arguments));
            case 1 ->
                new Function(
                        "(" + left.text + "-" + right.text + ")",
                        arguments -> left.value.applyAsLong(arguments) - right.value.applyAsLong(arguments));
            case 2 ->
                new Function(
                        "(" + left.text + "*" + right.text + ")",
                        arguments -> left.value.applyAsLong(arguments) * right.value.applyAsLong(arguments));
            default ->
                new Function(
                        "(" + left.text + " == " + right.text + ")",
                        arguments -> left.value.applyAsLong(arguments) == right.value.applyAsLong(arguments) ? 1 : 0);
        };
    }

    /// What the value is set to at the entry, where the table knows the objects in their order.
    private long selected(String text, String kind, long[] arguments) throws Exception {
        Compilation compilation = Compilation.of(new SourceFile("v", text), Definitions.NONE);
        assertThat(compilation.diagnostics()).as(text).isEmpty();
        Definitions definitions = compilation.definitions();
        long object = OBJECTS.get((int) (arguments[0] % OBJECTS.size()));
        Answer answer = new Evaluator(definitions, program)
                .evaluate(
                        Objects.requireNonNull(definitions.metrics().get("m")),
                        new Focus(List.of(Resource.of("/SyncObject/Thing/" + object))),
                        1);
        Answer.Flag flag = ((Answer.Instance) answer).flags().getFirst();
        assertThat(flag.choice())
                .isEqualTo(new Answer.Choice(
                        Objects.requireNonNull(flag.choice()).selector(), kind.endsWith("direct"), object));
        List<Statement> code =
                new Lowering(new Places()).lower(flag.snippets().getFirst()).statements();
        return code.size() == 1 && code.getFirst() instanceof Statement.Store(int value, Expression expression)
                ? value(expression, arguments)
                : -1;
    }

    private static final class Places implements Lowering.Storage {
        @Override
        public int index(Value value) {
            return 1;
        }

        @Override
        public Optional<Expression.Member> member(Value flag) {
            return Optional.empty();
        }

        @Override
        public Expression.Position position(Value selector, Expression number) {
            return new Expression.Position(number, 0, false);
        }

        @Override
        public int errors() {
            throw new AssertionError("nothing that is written has errors");
        }

        @Override
        public long text(String text) {
            throw new AssertionError("nothing that is written has texts");
        }
    }

    private static long value(Expression expression, long[] arguments) {
        return switch (expression) {
            case Expression.Constant(long number) -> number;
            case Expression.Argument(int index) -> arguments[index];
            case Expression.Position position -> 1 + OBJECTS.indexOf(value(position.number(), arguments));
            case Expression.Compare compare ->
                value(compare.left(), arguments) == value(compare.right(), arguments) ? 1 : 0;
            case Expression.Binary binary ->
                binary.operator().apply(value(binary.left(), arguments), value(binary.right(), arguments));
            default -> throw new AssertionError(expression);
        };
    }
}
