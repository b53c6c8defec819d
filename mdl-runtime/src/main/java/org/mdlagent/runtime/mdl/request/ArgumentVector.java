package org.mdlagent.runtime.mdl.request;

import java.util.ArrayList;
import java.util.List;
import org.mdlagent.runtime.mdl.Constraint;
import org.mdlagent.runtime.mdl.syntax.Operator;
import org.mdlagent.runtime.mdl.syntax.ValueKind;

/// Turns a constraint's code, which compares a value with the selected object, into code that looks up the object
/// (MDL paper, section 5: vectorised by argument). One value represents the flags of all objects: 0 while none is
/// active, [#OTHER] while an object is active that no request selects, and higher numbers for selected objects.
public final class ArgumentVector {
    /// The value while an object is active that no request selects.
    public static final int OTHER = 1;

    /// The name of all objects that no request selects.
    public static final String OTHERS = "(other)";

    private ArgumentVector() {}

    /// The value.
    static Value selector(Constraint constraint) {
        return new Value(
                constraint.name(),
                ValueKind.COUNTER,
                ObjectDiscovery.kind(constraint).toString());
    }

    /// @throws Unresolvable if the program lacks something that the statements need
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
