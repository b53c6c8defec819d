package org.mdlagent.arch.snippet;

import java.util.List;
import java.util.Map;
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
    private final Map<Long, Long> memory;

    /// @param values    of the thread; changed
    /// @param memory    the eight bytes at each address
    public Interpreter(long[] values, long[] arguments, long result, Map<Long, Long> memory) {
        this.values = values;
        this.arguments = arguments;
        this.result = result;
        this.memory = memory;
    }

    public void run(Snippet snippet) {
        run(snippet.statements());
    }

    private void run(List<Statement> statements) {
        for (Statement statement : statements) {
            switch (statement) {
                case Statement.Store store -> values[store.value()] = compute(store.expression());
                case Statement.Add add -> values[add.value()] += compute(add.amount());
                case Statement.If(Expression condition, List<Statement> body) -> {
                    if (compute(condition) != 0) {
                        run(body);
                    }
                }
                case Statement.Start start -> values[start.timer() + ValueDescriptor.TIMER_NESTING]++;
                case Statement.Stop stop -> {
                    int nesting = stop.timer() + ValueDescriptor.TIMER_NESTING;
                    values[nesting] = Math.max(0, values[nesting] - 1);
                }
            }
        }
    }

    private long compute(Expression expression) {
        return switch (expression) {
            case Constant(long number) -> number;
            case Value(int index) -> values[index];
            case Argument(int number) -> arguments[number];
            case Result() -> result;
            case Load load -> load(load);
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

    private long divide(long left, long right, int errors) {
        if (right == 0) {
            values[errors]++;
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
