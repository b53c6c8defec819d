package org.mdlagent.runtime.metric;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.LongBinaryOperator;
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
import org.mdlagent.runtime.mdl.request.Value;
import org.mdlagent.runtime.mdl.syntax.SourceFile;

/// Right code made at random: what comes out of the compiler does to the counters what was written.
///
/// `-Dmdl.fuzz.cases=N` sets the number of cases, `-Dmdl.fuzz.seed=S` where they start.
class CodeFuzzTest {
    private static final int CASES = Integer.getInteger("mdl.fuzz.cases", 2_000);
    private static final long SEED = Long.getLong("mdl.fuzz.seed", 1);
    private static final int DEPTH = 4;

    private static final String METRIC = """
            list numbers is int { items { 7, 0, 2 }; }
            metric m {
                name "m"; units things; aggregateOperator sum;
                counter a; counter b;
                base is counter { append preInsn $start.entry (* %s *) }
            }
            """;

    private static final List<String> COUNTERS = List.of("m", "a", "b");
    private static final long[] NUMBERS = {7, 0, 2};
    private static final int ARGUMENTS = 2;

    /// Between tokens.
    private static final String[] SPACES = {" ", "  ", "\n", "\t", " // so { } ; if (\n", ""};

    private final FakeProgram program = new FakeProgram().with("p.c", "/bin/p", "main");

    /// Statements, and what they do to the counters, behind which the arguments lie.
    private record Code(String text, Consumer<long[]> effect) {}

    private record Number(String text, ToLongFunction<long[]> value) {}

    @Test
    void shouldDoWhatIsWritten() {
        for (int i = 0; i < CASES; i++) {
            SplittableRandom random = new SplittableRandom(SEED + i);
            Code code = new Writer(random).statements(DEPTH);
            long[] expected = {random.nextInt(3), random.nextInt(3), 0, random.nextInt(3), random.nextInt(9)};
            long[] actual = expected.clone();

            code.effect.accept(expected);
            run(compiled(code.text), actual);

            assertThat(actual).as("case with seed %d: %s", SEED + i, code.text).containsExactly(expected);
        }
    }

    private List<Statement> compiled(String code) {
        Compilation compilation = Compilation.of(new SourceFile("m", METRIC.formatted(code)), Definitions.NONE);
        assertThat(compilation.diagnostics()).as(code).isEmpty();
        Definitions definitions = compilation.definitions();
        Answer answer = new Evaluator(definitions, program)
                .evaluate(Objects.requireNonNull(definitions.metrics().get("m")), Focus.WHOLE_PROGRAM, 1);
        try {
            return new Lowering(new Places())
                    .lower(((Answer.Instance) answer).snippets().getFirst())
                    .statements();
        } catch (Lowering.UnsupportedException e) {
            throw new AssertionError(code, e);
        }
    }

    /// Counters have the numbers of their places in the list, from 1 on.
    private static final class Places implements Lowering.Storage {
        @Override
        public int index(Value value) {
            return 1 + COUNTERS.indexOf(value.name());
        }

        @Override
        public Optional<Expression.Member> member(Value flag) {
            return Optional.empty();
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

    private static void run(List<Statement> statements, long[] state) {
        for (Statement statement : statements) {
            switch (statement) {
                case Statement.Store(int value, Expression expression) -> state[value - 1] = value(expression, state);
                case Statement.Add(int value, Expression amount) -> state[value - 1] += value(amount, state);
                case Statement.If(Expression condition, List<Statement> body) -> {
                    if (value(condition, state) != 0) {
                        run(body, state);
                    }
                }
                default -> throw new AssertionError(statement);
            }
        }
    }

    private static long value(Expression expression, long[] state) {
        return switch (expression) {
            case Expression.Constant(long value) -> value;
            case Expression.Value(int index) -> state[index - 1];
            case Expression.Argument(int index) -> state[COUNTERS.size() + index];
            case Expression.And(Expression left, Expression right) ->
                value(left, state) != 0 && value(right, state) != 0 ? 1 : 0;
            case Expression.Or(Expression left, Expression right) ->
                value(left, state) != 0 || value(right, state) != 0 ? 1 : 0;
            case Expression.Compare compare -> {
                long left = value(compare.left(), state);
                long right = value(compare.right(), state);
                boolean holds = switch (compare.relation()) {
                    case EQUAL -> left == right;
                    case LESS -> left < right;
                    default -> throw new AssertionError(compare);
                };
                yield holds ? 1 : 0;
            }
            case Expression.Binary binary -> {
                long left = value(binary.left(), state);
                long right = value(binary.right(), state);
                yield switch (binary.operator()) {
                    case ADD -> left + right;
                    case SUBTRACT -> left - right;
                    default -> throw new AssertionError(binary);
                };
            }
            default -> throw new AssertionError(expression);
        };
    }

    /// Makes code at random.
    private static final class Writer {
        private final SplittableRandom random;

        Writer(SplittableRandom random) {
            this.random = random;
        }

        private String space() {
            return SPACES[random.nextInt(SPACES.length)];
        }

        Code statements(int depth) {
            List<Code> parts = new ArrayList<>();
            StringBuilder text = new StringBuilder();
            for (int left = random.nextInt(1, 4); left > 0; left--) {
                Code part = statement(depth);
                parts.add(part);
                text.append(space()).append(part.text).append(space());
            }
            return new Code(text.toString(), state -> parts.forEach(part -> part.effect.accept(state)));
        }

        private Code statement(int depth) {
            return depth == 0 || random.nextInt(2) == 0 ? change(depth) : condition(depth);
        }

        private Code condition(int depth) {
            Number condition = number(2);
            boolean braces = random.nextBoolean();
            Code body = braces ? statements(depth - 1) : statement(depth - 1);
            return new Code(
                    "if" + space() + "(" + condition.text + ")" + space()
                            + (braces ? "{" + body.text + "}" : body.text),
                    state -> {
                        if (condition.value.applyAsLong(state) != 0) {
                            body.effect.accept(state);
                        }
                    });
        }

        private Code change(int depth) {
            int counter = random.nextInt(COUNTERS.size());
            String name = COUNTERS.get(counter);
            Number number = number(Math.min(2, depth));
            return switch (random.nextInt(4)) {
                case 0 -> new Code(name + "++;", state -> state[counter]++);
                case 1 ->
                    new Code(
                            name + " +=" + space() + number.text + ";",
                            state -> state[counter] += number.value.applyAsLong(state));
                case 2 ->
                    new Code(
                            name + space() + "-= " + number.text + ";",
                            state -> state[counter] -= number.value.applyAsLong(state));
                default ->
                    new Code(
                            name + " = " + number.text + space() + ";",
                            state -> state[counter] = number.value.applyAsLong(state));
            };
        }

        private Number number(int depth) {
            int form = random.nextInt(depth == 0 ? 4 : 10);
            int n = random.nextInt(3);
            return switch (form) {
                case 0 -> new Number(Integer.toString(n), state -> n);
                case 1 -> new Number(COUNTERS.get(n), state -> state[n]);
                case 2 -> {
                    int argument = n % ARGUMENTS;
                    yield new Number("$arg[" + argument + "]", state -> state[COUNTERS.size() + argument]);
                }
                case 3 -> new Number("numbers[" + space() + n + "]", state -> NUMBERS[n]);
                case 4 -> {
                    Number inner = number(depth - 1);
                    yield new Number("-(" + inner.text + ")", state -> -inner.value.applyAsLong(state));
                }
                case 5 -> both(depth, "+", Long::sum);
                case 6 -> both(depth, "<", (left, right) -> left < right ? 1 : 0);
                case 7 -> both(depth, "==", (left, right) -> left == right ? 1 : 0);
                case 8 -> both(depth, "&&", (left, right) -> left != 0 && right != 0 ? 1 : 0);
                default -> both(depth, "||", (left, right) -> left != 0 || right != 0 ? 1 : 0);
            };
        }

        private Number both(int depth, String operator, LongBinaryOperator of) {
            Number left = number(depth - 1);
            Number right = number(depth - 1);
            return new Number(
                    "(" + left.text + space() + operator + " " + right.text + ")",
                    state -> of.applyAsLong(left.value.applyAsLong(state), right.value.applyAsLong(state)));
        }
    }
}
