package org.mdlagent.runtime.mdl.request;

import java.util.ArrayList;
import java.util.List;
import org.mdlagent.runtime.mdl.Constraint;
import org.mdlagent.runtime.mdl.syntax.Operator;
import org.mdlagent.runtime.mdl.syntax.ValueKind;

/// Makes of a constraint's code, which compares something with the object that is selected, code that tells which
/// of all objects it is (MDL paper, section 5: vectorised by argument). One value stands for the flags of all of them:
/// 0 while
/// none is active, [#OTHER] while one is that nobody asks for, and behind that a number for each that somebody does.
public final class ArgumentVector {
    /// What the value is while an object is active that nobody asks for.
    public static final int OTHER = 1;

    /// The name of all objects that nobody asks for.
    public static final String OTHERS = "(other)";

    private ArgumentVector() {}

    /// The value.
    static Value selector(Constraint constraint) {
        return new Value(
                constraint.name(),
                ValueKind.COUNTER,
                ObjectDiscovery.kind(constraint).toString());
    }

    /// @throws Unresolvable when the program lacks what the statements need
    static List<SnippetRequest> snippets(Constraint constraint, SnippetCollector collector) throws Unresolvable {
        Value selector = selector(constraint);
        collector.execute(
                constraint.definition().statements(),
                ObjectDiscovery.selectingNone(constraint.name(), selector),
                List.of());
        List<SnippetRequest> snippets = new ArrayList<>();
        for (SnippetRequest request : collector.take()) {
            List<SnippetRequest.Step> code = request.code().stream()
                    .flatMap(SnippetRequest.Step::expressions)
                    .<SnippetRequest.Step>map(effect -> new SnippetRequest.Run(selecting(selector, effect)))
                    .toList();
            snippets.add(new SnippetRequest(request.point(), request.side(), request.order(), List.of(), code));
        }
        return snippets;
    }

    private static SnippetExpression selecting(Value selector, SnippetExpression effect) {
        if (!(effect instanceof SnippetExpression.Store(Value flag, SnippetExpression value))) {
            throw new AssertionError("sets no flag: " + effect);
        }
        if (!(value
                instanceof
                SnippetExpression.Binary(Operator operator, SnippetExpression left, SnippetExpression right))) {
            return effect;
        }
        SnippetExpression compared = ObjectDiscovery.isSelected(left) ? right : left;
        return new SnippetExpression.Store(
                flag,
                new SnippetExpression.Binary(
                        Operator.ADD,
                        new SnippetExpression.Position(selector, compared),
                        new SnippetExpression.Constant(OTHER)));
    }
}
