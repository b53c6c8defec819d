package org.mdlagent.runtime.metric;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.mdlagent.arch.snippet.Expression;
import org.mdlagent.arch.snippet.Snippet;
import org.mdlagent.arch.snippet.Statement;
import org.mdlagent.runtime.mdl.request.Point;
import org.mdlagent.runtime.mdl.request.SnippetExpression;
import org.mdlagent.runtime.mdl.request.SnippetRequest;
import org.mdlagent.runtime.mdl.request.Symbol;
import org.mdlagent.runtime.mdl.request.Value;
import org.mdlagent.runtime.mdl.syntax.Operator;
import org.mdlagent.runtime.mdl.syntax.ValueKind;

/// Turns code with resolved names into the form that machine code is made of.
final class Lowering {
    private final Storage storage;

    /// Where in memory there is what code names.
    interface Storage {
        /// Index of a value, which each thread has.
        int index(Value value);

        /// As which a flag is in a set too, if it is.
        Optional<Expression.Member> member(Value flag);

        /// What the value of a flag is while it is set, if it stands for the flags of many.
        default OptionalInt selected(Value flag) {
            return OptionalInt.empty();
        }

        /// Which of a vector's objects a number stands for.
        default Expression.Position position(Value selector, Expression number) {
            throw new AssertionError("no vector " + selector);
        }

        /// Index of the counter of divisions by zero, memory that cannot be read, and functions that are not called.
        int errors();

        /// Address of a text with a NUL behind it.
        long text(String text);
    }

    /// Machine code has no counterpart for something.
    static final class UnsupportedException extends Exception {
        private static final long serialVersionUID = 1;

        UnsupportedException(String what) {
            super(what + " cannot be executed in this version");
        }
    }

    Lowering(Storage storage) {
        this.storage = storage;
    }

    Snippet lower(SnippetRequest request) throws UnsupportedException {
        Snippet snippet = new Snippet(statements(request.code()));
        if (request.point() instanceof Point.Call call) {
            snippet = snippet.constrained(new Expression.Compare(
                    Expression.Relation.EQUAL,
                    new Expression.ReturnAddress(),
                    new Expression.Constant(call.returnAddress())));
        }
        for (Value guard : request.guards()) {
            snippet = snippet.constrained(condition(guard));
        }
        return snippet;
    }

    private Expression condition(Value guard) {
        Optional<Expression.Member> member = storage.member(guard);
        if (member.isPresent()) {
            return member.get();
        }
        Expression value = new Expression.Value(storage.index(guard));
        OptionalInt selected = storage.selected(guard);
        return selected.isEmpty()
                ? value
                : new Expression.Compare(
                        Expression.Relation.EQUAL, value, new Expression.Constant(selected.getAsInt()));
    }

    private List<Statement> statements(List<SnippetRequest.Step> steps) throws UnsupportedException {
        List<Statement> statements = new ArrayList<>();
        for (SnippetRequest.Step step : steps) {
            switch (step) {
                case SnippetRequest.Run(SnippetExpression effect) -> statements.addAll(effect(effect));
                case SnippetRequest.If(SnippetExpression condition, List<SnippetRequest.Step> body) -> {
                    List<Statement> inside = statements(body);
                    statements.add(new Statement.If(lower(condition), inside));
                }
            }
        }
        return statements;
    }

    private List<Statement> effect(SnippetExpression effect) throws UnsupportedException {
        return switch (effect) {
            case SnippetExpression.Store(Value counter, SnippetExpression value) ->
                marking(counter, new Statement.Store(storage.index(counter), lower(value)));
            case SnippetExpression.Add(Value counter, SnippetExpression amount) ->
                marking(counter, new Statement.Add(storage.index(counter), lower(amount)));
            case SnippetExpression.Start(Value timer) ->
                List.of(new Statement.Start(storage.index(timer), clock(timer)));
            case SnippetExpression.Stop(Value timer) -> List.of(new Statement.Stop(storage.index(timer), clock(timer)));
            case SnippetExpression.Discover(Value table, SnippetExpression number) ->
                List.of(new Statement.Discover(storage.index(table), lower(number)));
            case SnippetExpression.Call call -> List.of(new Statement.Run(call(call)));
            default -> {
                // What has no effect of its own may have been written for that of a part.
                lower(effect);
                yield List.of();
            }
        };
    }

    /// Keeps the set of a flag, if it is in one, as the flag says.
    private List<Statement> marking(Value changed, Statement change) {
        Optional<Expression.Member> member = storage.member(changed);
        return member.isPresent()
                ? List.of(change, new Statement.Mark(storage.index(changed), member.get()))
                : List.of(change);
    }

    private static Statement.Clock clock(Value timer) {
        return timer.kind() == ValueKind.WALL_TIMER ? Statement.Clock.WALL : Statement.Clock.THREAD_CPU;
    }

    private Expression lower(SnippetExpression expression) throws UnsupportedException {
        return switch (expression) {
            case SnippetExpression.Constant(long value) -> new Expression.Constant(value);
            case SnippetExpression.Load(Value counter) -> new Expression.Value(storage.index(counter));
            case SnippetExpression.Argument(int index) -> new Expression.Argument(index);
            case SnippetExpression.Result() -> new Expression.Result();
            case SnippetExpression.Global(Symbol symbol) -> new Expression.Load(symbol.address(), width(symbol));
            case SnippetExpression.AddressOf(Symbol symbol) -> new Expression.Constant(symbol.address());
            case SnippetExpression.Negate(SnippetExpression operand) ->
                new Expression.Binary(Expression.Operator.SUBTRACT, new Expression.Constant(0), lower(operand));
            case SnippetExpression.Binary(Operator operator, SnippetExpression left, SnippetExpression right) ->
                binary(operator, lower(left), lower(right));
            case SnippetExpression.Text text -> throw new UnsupportedException("a string that is no argument");
            case SnippetExpression.Memory(SnippetExpression address) ->
                new Expression.Read(lower(address), storage.errors());
            case SnippetExpression.Call call -> call(call);
            case SnippetExpression.Position(Value selector, SnippetExpression number) ->
                storage.position(selector, lower(number));
            case SnippetExpression.Store store -> throw inside();
            case SnippetExpression.Add add -> throw inside();
            case SnippetExpression.Start start -> throw inside();
            case SnippetExpression.Stop stop -> throw inside();
            case SnippetExpression.Discover note -> throw inside();
        };
    }

    private Expression.Call call(SnippetExpression.Call call) throws UnsupportedException {
        List<Expression> arguments = new ArrayList<>();
        for (SnippetExpression argument : call.arguments()) {
            arguments.add(
                    argument instanceof SnippetExpression.Text(String text)
                            ? new Expression.Constant(storage.text(text))
                            : lower(argument));
        }
        return new Expression.Call(call.function().address(), arguments, storage.errors());
    }

    private static UnsupportedException inside() {
        return new UnsupportedException("an assignment inside an expression");
    }

    private Expression binary(Operator operator, Expression left, Expression right) {
        return switch (operator) {
            case OR -> new Expression.Or(left, right);
            case AND -> new Expression.And(left, right);
            case ADD -> new Expression.Binary(Expression.Operator.ADD, left, right);
            case SUBTRACT -> new Expression.Binary(Expression.Operator.SUBTRACT, left, right);
            case MULTIPLY -> new Expression.Binary(Expression.Operator.MULTIPLY, left, right);
            case DIVIDE -> new Expression.Divide(left, right, storage.errors());
            case EQUAL -> new Expression.Compare(Expression.Relation.EQUAL, left, right);
            case NOT_EQUAL -> new Expression.Compare(Expression.Relation.NOT_EQUAL, left, right);
            case LESS -> new Expression.Compare(Expression.Relation.LESS, left, right);
            case LESS_EQUAL -> new Expression.Compare(Expression.Relation.LESS_OR_EQUAL, left, right);
            case GREATER -> new Expression.Compare(Expression.Relation.GREATER, left, right);
            case GREATER_EQUAL -> new Expression.Compare(Expression.Relation.GREATER_OR_EQUAL, left, right);
        };
    }

    private static Expression.Width width(Symbol symbol) {
        return switch (symbol.size()) {
            case 1 -> symbol.signed() ? Expression.Width.S8 : Expression.Width.U8;
            case 2 -> symbol.signed() ? Expression.Width.S16 : Expression.Width.U16;
            case 4 -> symbol.signed() ? Expression.Width.S32 : Expression.Width.U32;
            default -> Expression.Width.U64;
        };
    }
}
