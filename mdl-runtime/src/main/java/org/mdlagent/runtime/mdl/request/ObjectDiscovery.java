package org.mdlagent.runtime.mdl.request;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.mdlagent.runtime.mdl.Constraint;
import org.mdlagent.runtime.mdl.syntax.Name;
import org.mdlagent.runtime.mdl.syntax.Operator;
import org.mdlagent.runtime.mdl.syntax.ValueKind;

/// Turns a constraint's code, which compares an argument with the selected object, into code that notes the
/// argument.
final class ObjectDiscovery {
    /// Placeholder for the object while the constraint's statements are executed. Negative, so it cannot occur in
    /// a file.
    private static final long SELECTED = Long.MIN_VALUE + 1;

    private ObjectDiscovery() {}

    /// @throws Unresolvable if the program lacks something that the statements need
    static List<SnippetRequest> of(Constraint constraint, SnippetCollector collector) throws Unresolvable {
        String kind = kind(constraint).toString();
        Value flag = new Value(constraint.name(), ValueKind.COUNTER, kind);
        collector.execute(constraint.definition().statements(), selectingNone(constraint.name(), flag), List.of());
        Value table = new Value("objects", ValueKind.COUNTER, kind);
        List<SnippetRequest> discoveries = new ArrayList<>();
        for (SnippetRequest request : collector.take()) {
            List<SnippetRequest.Step> notes = request.code().stream()
                    .flatMap(SnippetRequest.Step::expressions)
                    .flatMap(ObjectDiscovery::compared)
                    .<SnippetRequest.Step>map(
                            number -> new SnippetRequest.Run(new SnippetExpression.Discover(table, number)))
                    .toList();
            if (!notes.isEmpty()) {
                discoveries.add(new SnippetRequest(request.point(), request.side(), request.order(), List.of(), notes));
            }
        }
        return discoveries;
    }

    /// Environment for a constraint's statements without a particular object.
    static Environment selectingNone(String name, Value flag) {
        return new Environment(Map.of(), Map.of(name, flag), List.of(new WhereValue.Whole(SELECTED)), 0);
    }

    /// Parent of the objects, such as `/SyncObject/Mutex`.
    static Resource kind(Constraint constraint) {
        return new Resource(constraint.definition().path().stream()
                .map(Name::text)
                .filter(name -> !name.equals("*"))
                .toList());
    }

    /// Arguments compared with the object.
    private static Stream<SnippetExpression> compared(SnippetExpression expression) {
        return switch (expression) {
            case SnippetExpression.Store(Value counter, SnippetExpression value) -> compared(value);
            case SnippetExpression.Add(Value counter, SnippetExpression amount) -> compared(amount);
            case SnippetExpression.Binary(Operator operator, SnippetExpression left, SnippetExpression right) ->
                operator == Operator.EQUAL && isSelected(left) && right instanceof SnippetExpression.Argument
                        ? Stream.of(right)
                        : operator == Operator.EQUAL && isSelected(right) && left instanceof SnippetExpression.Argument
                                ? Stream.of(left)
                                : Stream.concat(compared(left), compared(right));
            default -> Stream.of();
        };
    }

    static boolean isSelected(SnippetExpression expression) {
        return expression.equals(new SnippetExpression.Constant(SELECTED));
    }
}
