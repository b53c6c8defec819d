package org.mdlagent.arch.snippet;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.mdlagent.arch.snippet.Expression.And;
import org.mdlagent.arch.snippet.Expression.Binary;
import org.mdlagent.arch.snippet.Expression.Common;
import org.mdlagent.arch.snippet.Expression.Compare;
import org.mdlagent.arch.snippet.Expression.Divide;
import org.mdlagent.arch.snippet.Expression.Or;
import org.mdlagent.arch.snippet.Statement.Add;
import org.mdlagent.arch.snippet.Statement.If;
import org.mdlagent.arch.snippet.Statement.Let;
import org.mdlagent.arch.snippet.Statement.Store;

/// Eliminates common subexpressions of a chain's snippets (MDL paper, section 5), if they are computed
/// unconditionally and nothing in the chain changes them. Variables of the program are then also read once.
public final class CommonSubexpressions {
    /// Minimum cost of a worthwhile part: storing and loading it takes two instructions.
    private static final int OPERATIONS_MIN = 2;

    private final Effects effects;
    private final Map<Expression, Occurrences> found = new LinkedHashMap<>();

    /// @param always whether one of them is computed unconditionally
    private record Occurrences(int count, boolean always) {
        Occurrences and(boolean another) {
            return new Occurrences(count + 1, always || another);
        }
    }

    private CommonSubexpressions(List<Snippet> chain) {
        effects = Effects.of(statements(chain));
        chain.forEach(snippet -> find(snippet.statements(), true));
    }

    /// A chain with the same effect, except that concurrent changes of variables may be missed. A chain that reads
    /// memory by address or calls functions is not changed: it has no room for more.
    public static List<Snippet> share(List<Snippet> chain) {
        if (Effects.of(statements(chain)).needsRoom()) {
            return chain;
        }
        List<Snippet> shared = chain;
        List<Snippet> first = new ArrayList<>();
        for (int slot = 0; slot < Common.COUNT; slot++) {
            Optional<Expression> best = new CommonSubexpressions(shared).best();
            if (best.isEmpty()) {
                break;
            }
            first.add(Snippet.of(new Let(slot, best.get())));
            Rewriting rewriting = Rewriting.replacing(best.get(), new Common(slot));
            shared = shared.stream()
                    .map(snippet -> new Snippet(rewriting.of(snippet.statements())))
                    .toList();
        }
        first.addAll(shared);
        return first;
    }

    private static List<Statement> statements(List<Snippet> chain) {
        return chain.stream().flatMap(snippet -> snippet.statements().stream()).toList();
    }

    /// The part that saves most.
    private Optional<Expression> best() {
        return found.entrySet().stream()
                .filter(one -> one.getValue().count > 1 && one.getValue().always && stays(one.getKey()))
                .max(Comparator.comparingInt(one -> (one.getValue().count - 1) * operations(one.getKey())))
                .map(Map.Entry::getKey);
    }

    /// Whether its value does not depend on where it is computed.
    private boolean stays(Expression expression) {
        Effects alone = Effects.of(List.of(new Let(0, expression)));
        return !alone.writesAnything() && alone.commuteWith(effects);
    }

    private void find(List<Statement> statements, boolean always) {
        for (Statement statement : statements) {
            switch (statement) {
                case Store(int value, Expression expression) -> find(expression, always);
                case Add(int value, Expression amount) -> find(amount, always);
                case If(Expression condition, List<Statement> body) -> {
                    find(condition, always);
                    find(body, false);
                }
                default -> {}
            }
        }
    }

    private void find(Expression expression, boolean always) {
        if (operations(expression) >= OPERATIONS_MIN) {
            found.merge(expression, new Occurrences(1, always), (before, one) -> before.and(one.always));
        }
        switch (expression) {
            case Binary(Expression.Operator operator, Expression left, Expression right) -> find(left, right, always);
            case Compare(Expression.Relation relation, Expression left, Expression right) -> find(left, right, always);
            case Divide(Expression left, Expression right, int errors) -> find(left, right, always);
            case Expression.Position position -> find(position.number(), always);
            case And(Expression left, Expression right) -> {
                find(left, always);
                find(right, false);
            }
            case Or(Expression left, Expression right) -> {
                find(left, always);
                find(right, false);
            }
            default -> {} // no parts, or nothing to share
        }
    }

    private void find(Expression left, Expression right, boolean always) {
        find(left, always);
        find(right, always);
    }

    /// Approximate number of instructions.
    private static int operations(Expression expression) {
        return switch (expression) {
            case Binary binary -> 1 + operations(binary.left()) + operations(binary.right());
            case Compare compare -> 1 + operations(compare.left()) + operations(compare.right());
            case Divide divide -> 1 + operations(divide.left()) + operations(divide.right());
            case And(Expression left, Expression right) -> 1 + operations(left) + operations(right);
            case Or(Expression left, Expression right) -> 1 + operations(left) + operations(right);
            case Expression.Load load -> 1;
            case Expression.Read read -> 1 + operations(read.address());
            case Expression.Call call ->
                1
                        + call.arguments().stream()
                                .mapToInt(CommonSubexpressions::operations)
                                .sum();
            case Expression.Argument argument -> 1;
            case Expression.Result result -> 1;
            case Expression.ReturnAddress address -> 1;
            case Expression.Member member -> 1;
            case Expression.Position position -> 8 + operations(position.number());
            case Expression.Value value -> 0;
            case Expression.Constant constant -> 0;
            case Common common -> 0;
        };
    }
}
