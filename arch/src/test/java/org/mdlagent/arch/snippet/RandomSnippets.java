package org.mdlagent.arch.snippet;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import org.mdlagent.arch.site.Body;
import org.mdlagent.arch.snippet.Expression.Binary;
import org.mdlagent.arch.snippet.Expression.Constant;
import org.mdlagent.arch.snippet.Expression.Value;

/// Snippets that make sense nowhere, but use everything.
public final class RandomSnippets {
    /// Their values are those from 1 to this; the two errors and three timers among them are as good as others.
    public static final int VALUES = 24;

    /// The function that a call names has as many parameters as its number; the last is not called.
    public static final int FUNCTIONS = Expression.Argument.COUNT + 2;

    private static final int ERRORS = 13;
    private static final int NOT_WRITTEN = 15;
    private static final int TIMERS = 16;
    private static final long[] NUMBERS = {
        0, 1, -1, 2, 7, 127, 128, -129, Integer.MAX_VALUE, Integer.MIN_VALUE, 1L << 31, Long.MAX_VALUE, Long.MIN_VALUE
    };

    /// Numbers that have a position.
    public static final List<Long> KNOWN = List.of(0L, 1L, -1L, 2L, 5L, 7L);

    /// Of the first of them, and so on.
    public static final int POSITION = 3;

    private final SplittableRandom random;
    private final Body body;
    private final long[] tables;
    private final long[] addresses;

    /// @param body      where they are to run
    /// @param addresses what they may load
    public RandomSnippets(SplittableRandom random, Body body, long... addresses) {
        this(random, body, new long[0], addresses);
    }

    /// @param tables of [#KNOWN], a hashed one and a direct one; or none
    public RandomSnippets(SplittableRandom random, Body body, long[] tables, long... addresses) {
        this.random = random;
        this.tables = tables;
        this.body = body;
        this.addresses = addresses;
    }

    public Snippet next() {
        return new Snippet(statements(3));
    }

    /// What a function returns that has as many parameters as its number: that, for each of them times 3 and what is
    /// passed more. The last is not called.
    public static OptionalLong callee(long function, List<Long> arguments) {
        if (function == FUNCTIONS - 1) {
            return OptionalLong.empty();
        }
        long sum = function;
        for (long argument : arguments) {
            sum = sum * 3 + argument;
        }
        return OptionalLong.of(sum);
    }

    private List<Statement> statements(int depth) {
        List<Statement> statements = new ArrayList<>();
        int count = 1 + random.nextInt(3);
        while (statements.size() < count) {
            statements.add(statement(depth));
        }
        return statements;
    }

    private Statement statement(int depth) {
        int value = 1 + random.nextInt(12);
        return switch (random.nextInt(depth > 0 ? 10 : 5)) {
            case 0 -> new Statement.Store(value, expression(4));
            case 1 -> new Statement.Store(value, depth < 3 ? expression(4) : read());
            case 2 -> new Statement.Add(value, expression(4));
            case 3 -> new Statement.Start(timer(), clock());
            case 4 -> new Statement.Stop(timer(), clock());
            case 5 -> new Statement.If(expression(3), statements(depth - 1));
            case 6 -> new Statement.Mark(value, member());
            case 7 -> depth < 3 ? new Statement.Store(value, sumOfCalls()) : new Statement.Run(call(3));
            case 8 -> forSelected();
            default -> forEach();
        };
    }

    /// Their own values are among all others, so one instance may change another's, or the selector.
    private Statement forSelected() {
        List<Statement> body = new ArrayList<>();
        while (body.isEmpty() || random.nextBoolean()) {
            body.add(statement(0));
        }
        return new Statement.ForSelected(
                1 + random.nextInt(12),
                random.nextInt(-2, 4),
                1 + random.nextInt(4),
                3 + random.nextInt(4),
                1 + random.nextInt(2),
                body);
    }

    /// Their own values are among all others, so one member may change another's.
    private Statement forEach() {
        int stride = 1 + random.nextInt(2);
        Expression.Member written = member();
        int low = Math.max(0, written.bit() - 1);
        long members = (1L << written.bit() | random.nextInt(16) * (1L << low)) & 0xFFFF_FFFF_FFFFL;
        List<Statement> body = new ArrayList<>();
        while (body.isEmpty() || random.nextBoolean()) {
            Statement statement = statement(0);
            if (!(statement instanceof Statement.ForEach)) {
                body.add(statement);
            }
        }
        return new Statement.ForEach(written, members, 3 + random.nextInt(4), stride, body);
    }

    private Expression.Member member() {
        return new Expression.Member(1 + random.nextInt(12), random.nextInt(40));
    }

    private int timer() {
        return TIMERS + 3 * random.nextInt(3);
    }

    private Statement.Clock clock() {
        return random.nextInt(4) == 0 ? Statement.Clock.THREAD_CPU : Statement.Clock.WALL;
    }

    /// A system call, so not often: of what can be read, or of nothing.
    private Expression read() {
        Expression address = random.nextBoolean()
                ? new Constant(addresses[random.nextInt(addresses.length)])
                : new Binary(Expression.Operator.MULTIPLY, new Constant(8), new Value(NOT_WRITTEN));
        Expression read = new Expression.Read(address, ERRORS + random.nextInt(2));
        return random.nextBoolean() ? read : new Binary(pick(Expression.Operator.values()), leaf(), read);
    }

    private Expression sumOfCalls() {
        return new Binary(pick(Expression.Operator.values()), expression(2), call(2));
    }

    /// Of its arguments, one at most may be a call or read memory.
    private Expression.Call call(int depth) {
        List<Expression> arguments = new ArrayList<>();
        int count = random.nextInt(Expression.Argument.COUNT + 1);
        while (arguments.size() < count) {
            arguments.add(expression(2));
        }
        if (count > 0 && depth > 0 && random.nextBoolean()) {
            arguments.set(random.nextInt(count), random.nextInt(4) == 0 ? read() : call(depth - 1));
        }
        return new Expression.Call(
                random.nextInt(4) == 0 ? FUNCTIONS - 1 : count, arguments, ERRORS + random.nextInt(2));
    }

    private Expression expression(int depth) {
        if (depth == 0 || random.nextInt(6) == 0) {
            return leaf();
        }
        if (tables.length > 0 && random.nextInt(8) == 0) {
            int kind = random.nextInt(tables.length);
            return new Expression.Position(expression(depth - 1), tables[kind], kind == 1);
        }
        Expression left = expression(depth - 1);
        Expression right = expression(depth - 1);
        return switch (random.nextInt(8)) {
            case 0, 1, 2 -> new Binary(pick(Expression.Operator.values()), left, right);
            case 3 -> new Expression.Divide(left, right, ERRORS + random.nextInt(2));
            case 4, 5 -> new Expression.Compare(pick(Expression.Relation.values()), left, right);
            case 6 -> new Expression.And(left, right);
            default -> new Expression.Or(left, right);
        };
    }

    private Expression leaf() {
        return switch (random.nextInt(7)) {
            case 6 -> body == Body.COUNT ? member() : new Expression.ReturnAddress();
            case 5 -> member();
            case 0 -> new Constant(NUMBERS[random.nextInt(NUMBERS.length)]);
            case 1 -> new Expression.Load(addresses[random.nextInt(addresses.length)], pick(Expression.Width.values()));
            case 2 ->
                switch (body) {
                    case FUNCTION_ENTRY -> new Expression.Argument(random.nextInt(Expression.Argument.COUNT));
                    case FUNCTION_EXIT -> new Expression.Result();
                    default -> new Value(1 + random.nextInt(12));
                };
            default -> new Value(1 + random.nextInt(12));
        };
    }

    private <T> T pick(T[] choices) {
        return choices[random.nextInt(choices.length)];
    }
}
