package org.mdlagent.arch.snippet;

import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.mdlagent.arch.layout.ValueDescriptor;
import org.mdlagent.arch.snippet.Expression.And;
import org.mdlagent.arch.snippet.Expression.Argument;
import org.mdlagent.arch.snippet.Expression.Binary;
import org.mdlagent.arch.snippet.Expression.Compare;
import org.mdlagent.arch.snippet.Expression.Constant;
import org.mdlagent.arch.snippet.Expression.Divide;
import org.mdlagent.arch.snippet.Expression.Load;
import org.mdlagent.arch.snippet.Expression.Or;
import org.mdlagent.arch.snippet.Expression.Result;
import org.mdlagent.arch.snippet.Expression.Value;

/// What snippets mean, to compare code with. A timer's times are not: only how often it has been started.
public final class Interpreter {
    private final long[] values;
    private final long[] arguments;
    private final long result;
    private final long returnAddress;
    private final Map<Long, Long> memory;
    private final Functions functions;

    /// Values from `own` on, `stride` of them, are others, so much farther.
    private int own;

    private int stride;
    private int distance;
    private final long[] common = new long[Expression.Common.COUNT];

    /// @param values    of the thread; changed
    /// What functions return.
    public interface Functions {
        /// @return empty when it is not called
        OptionalLong call(long function, List<Long> arguments);
    }

    /// @param memory    the eight bytes at each address
    public Interpreter(
            long[] values,
            long[] arguments,
            long result,
            long returnAddress,
            Map<Long, Long> memory,
            Functions functions) {
        this.values = values;
        this.arguments = arguments;
        this.result = result;
        this.returnAddress = returnAddress;
        this.memory = memory;
        this.functions = functions;
    }

    public void run(Snippet snippet) {
        run(snippet.statements());
    }

    private void run(List<Statement> statements) {
        for (Statement statement : statements) {
            switch (statement) {
                case Statement.Store store -> values[at(store.value())] = compute(store.expression());
                case Statement.Add add -> values[at(add.value())] += compute(add.amount());
                case Statement.Run(Expression.Call call) -> compute(call);
                case Statement.If(Expression condition, List<Statement> body) -> {
                    if (compute(condition) != 0) {
                        run(body);
                    }
                }
                case Statement.Start start -> values[at(start.timer()) + ValueDescriptor.TIMER_NESTING]++;
                case Statement.Stop stop -> {
                    int nesting = at(stop.timer()) + ValueDescriptor.TIMER_NESTING;
                    values[nesting] = Math.max(0, values[nesting] - 1);
                }
                case Statement.Mark mark -> {
                    long bit = 1L << mark.member().bit();
                    int set = mark.member().set();
                    values[set] = values[at(mark.value())] != 0 ? values[set] | bit : values[set] & ~bit;
                }
                case Statement.ForEach each -> run(each);
                case Statement.ForSelected one -> run(one);
                case Statement.Discover note ->
                    throw new AssertionError("where a number is noted, no table says: " + note);
                case Statement.Let(int slot, Expression expression) -> common[slot] = compute(expression);
            }
        }
    }

    private void run(Statement.ForEach each) {
        long present = values[each.written().set()] & each.members();
        own = each.first();
        stride = each.stride();
        for (int bit = 0; bit < Long.SIZE; bit++) {
            if ((present >> bit & 1) != 0) {
                distance = stride * (bit - each.written().bit());
                run(each.body());
            }
        }
        distance = 0;
    }

    private void run(Statement.ForSelected one) {
        long number = values[one.selector()] - one.lowest();
        if (number >= 0 && number < one.count()) {
            own = one.first();
            stride = one.stride();
            distance = stride * (int) number;
            run(one.body());
            distance = 0;
        }
    }

    private int at(int value) {
        return value >= own && value < own + stride ? value + distance : value;
    }

    private long compute(Expression expression) {
        return switch (expression) {
            case Constant(long number) -> number;
            case Value(int index) -> values[at(index)];
            case Expression.Common(int slot) -> common[slot];
            case Expression.Member(int set, int bit) -> values[set] >> bit & 1;
            case Expression.Position position -> position(compute(position.number()));
            case Argument(int number) -> arguments[number];
            case Result() -> result;
            case Expression.ReturnAddress() -> returnAddress;
            case Load load -> load(load);
            case Expression.Read(Expression address, int errors) -> read(compute(address), errors);
            case Expression.Call call -> call(call);
            case Binary(Expression.Operator operator, Expression left, Expression right) ->
                switch (operator) {
                    case ADD -> compute(left) + compute(right);
                    case SUBTRACT -> compute(left) - compute(right);
                    case MULTIPLY -> compute(left) * compute(right);
                };
            case Divide divide -> divide(compute(divide.left()), compute(divide.right()), divide.errors());
            case Compare(Expression.Relation relation, Expression left, Expression right) ->
                holds(relation, compute(left), compute(right)) ? 1 : 0;
            case And(Expression left, Expression right) -> compute(left) != 0 && compute(right) != 0 ? 1 : 0;
            case Or(Expression left, Expression right) -> compute(left) != 0 || compute(right) != 0 ? 1 : 0;
        };
    }

    /// As the tables have it that [RandomSnippets] know.
    private static long position(long number) {
        int at = RandomSnippets.KNOWN.indexOf(number);
        return at < 0 ? 0 : RandomSnippets.POSITION * (at + 1L);
    }

    private long load(Load load) {
        long word = memory.getOrDefault(load.address(), 0L);
        return switch (load.width()) {
            case U8 -> word & 0xFF;
            case S8 -> (byte) word;
            case U16 -> word & 0xFFFF;
            case S16 -> (short) word;
            case U32 -> word & 0xFFFF_FFFFL;
            case S32 -> (int) word;
            case U64 -> word;
        };
    }

    private long read(long address, int errors) {
        Long word = memory.get(address);
        if (word == null) {
            values[at(errors)]++;
            return 0;
        }
        return word;
    }

    private long call(Expression.Call call) {
        List<Long> computed = call.arguments().stream().map(this::compute).toList();
        OptionalLong returned = functions.call(call.function(), computed);
        if (returned.isEmpty()) {
            values[at(call.errors())]++;
        }
        return returned.orElse(0);
    }

    private long divide(long left, long right, int errors) {
        if (right == 0) {
            values[at(errors)]++;
            return 0;
        }
        return left / right;
    }

    private static boolean holds(Expression.Relation relation, long left, long right) {
        return switch (relation) {
            case EQUAL -> left == right;
            case NOT_EQUAL -> left != right;
            case LESS -> left < right;
            case LESS_OR_EQUAL -> left <= right;
            case GREATER -> left > right;
            case GREATER_OR_EQUAL -> left >= right;
        };
    }
}
