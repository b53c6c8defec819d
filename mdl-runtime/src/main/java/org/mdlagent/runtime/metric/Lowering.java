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

/// Lowers code with resolved names to the form for code generation.
class Lowering {
    private final Storage storage;

    /// Addresses and indices of the values that code names.
    interface Storage {
        /// Index of a per-thread value.
        int index(Value value);

        /// A flag's member of a set, if it has one.
        Optional<Expression.Member> member(Value flag);

        /// The value of a flag while it is set, if the value represents many flags.
        default OptionalInt selected(Value flag) {
            return OptionalInt.empty();
        }

        /// The lookup of a vector's object by number.
        default Expression.Position position(Value selector, Expression number) {
            throw new AssertionError("no vector " + selector);
        }

        /// Address of the word that points to the table of descriptors.
        default long descriptors() {
            throw new AssertionError("no descriptors");
        }

        /// Index of the counter of divisions by zero, unreadable memory and skipped calls.
        int errors();

        /// Address of a NUL-terminated text.
        long text(String text);
    }

    /// The same for a metric of several objects of a vector, each with its own value; the values are adjacent.
    interface StorageOfMany extends Storage {
        /// Index of the value that selects the active object.
        int selector();

        /// The metric's values by object.
        List<Integer> numbers();

        /// Index of the first object's own value.
        int first();

        /// Distance to the next object's value.
        int stride();
    }

    /// The view of one of the objects.
    private record StorageOfOne(StorageOfMany all, int object) implements Storage {
        @Override
        public int index(Value value) {
            int index = all.index(value);
            return index == all.first() ? index + object * all.stride() : index;
        }

        @Override
        public Optional<Expression.Member> member(Value flag) {
            return Optional.empty();
        }

        @Override
        public long descriptors() {
            return all.descriptors();
        }

        @Override
        public int errors() {
            return all.errors();
        }

        @Override
        public long text(String text) {
            return all.text(text);
        }
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
        return guarded(request, request.guards(), statements(request.code()));
    }

    final Snippet guarded(SnippetRequest request, List<Value> guards, List<Statement> statements) {
        Snippet snippet = new Snippet(statements);
        if (request.point() instanceof Point.Call call) {
            snippet = snippet.constrained(new Expression.Compare(
                    Expression.Relation.EQUAL,
                    new Expression.ReturnAddress(),
                    new Expression.Constant(call.returnAddress())));
        }
        for (Value guard : guards) {
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

    final List<Statement> statements(List<SnippetRequest.Step> steps) throws UnsupportedException {
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
                // An expression without its own effect may contain parts with effects.
                lower(effect);
                yield List.of();
            }
        };
    }

    /// Updates the set of a flag, if it is in one.
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
            case SnippetExpression.FileOf(SnippetExpression descriptor) ->
                new Expression.Position(lower(descriptor), storage.descriptors(), true);
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

    /// The same for a metric of several objects of a vector. Its guarded code is emitted once and runs for the
    /// active object.
    static final class OfMany extends Lowering {
        private final StorageOfMany storage;

        OfMany(StorageOfMany storage) {
            super(storage);
            this.storage = storage;
        }

        @Override
        Snippet lower(SnippetRequest request) throws UnsupportedException {
            List<Statement> statements = new ArrayList<>();
            boolean stops = request.code().stream()
                    .flatMap(SnippetRequest.Step::expressions)
                    .allMatch(SnippetExpression.Stop.class::isInstance);
            if (!request.guards().isEmpty()) {
                statements.addAll(ofActive(request));
            } else if (stops) {
                // While an object is active, other objects' timers run only if a handler has interrupted them.
                // They are stopped after the handler, which leaves no object active.
                Expression active = new Expression.Value(storage.selector());
                statements.add(new Statement.If(
                        new Expression.Compare(Expression.Relation.EQUAL, active, new Expression.Constant(0)),
                        ofEach(request)));
                statements.addAll(ofActive(request));
            } else {
                statements.addAll(ofEach(request));
            }
            return guarded(request, List.of(), statements);
        }

        private List<Statement> ofEach(SnippetRequest request) throws UnsupportedException {
            List<Statement> statements = new ArrayList<>();
            for (int i = 0; i < storage.numbers().size(); i++) {
                statements.addAll(of(i).statements(request.code()));
            }
            return statements;
        }

        /// For each run of consecutive numbers.
        private List<Statement> ofActive(SnippetRequest request) throws UnsupportedException {
            List<Integer> numbers = storage.numbers();
            List<Statement> statements = new ArrayList<>();
            int low = 0;
            for (int end = 1; end <= numbers.size(); end++) {
                if (end == numbers.size() || numbers.get(end) != numbers.get(end - 1) + 1) {
                    statements.add(new Statement.ForSelected(
                            storage.selector(),
                            numbers.get(low),
                            end - low,
                            storage.first() + low * storage.stride(),
                            storage.stride(),
                            of(low).statements(request.code())));
                    low = end;
                }
            }
            return statements;
        }

        private Lowering of(int object) {
            return new Lowering(new StorageOfOne(storage, object));
        }
    }
}
