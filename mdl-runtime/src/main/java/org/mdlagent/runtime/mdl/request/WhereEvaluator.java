package org.mdlagent.runtime.mdl.request;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.mdlagent.runtime.mdl.request.Program.CodeModule;
import org.mdlagent.runtime.mdl.syntax.Definition;
import org.mdlagent.runtime.mdl.syntax.Expression;
import org.mdlagent.runtime.mdl.syntax.Name;
import org.mdlagent.runtime.mdl.syntax.Operator;
import org.mdlagent.runtime.options.FunctionGlob;

/// Evaluates expressions of statements against a program. Types have been checked.
final class WhereEvaluator {
    private final Program program;
    private final ProgramIndex index;
    private final Flavors flavors;
    private final Map<String, Definition.Items> lists;

    WhereEvaluator(Program program, ProgramIndex index, Flavors flavors, Map<String, Definition.Items> lists) {
        this.program = program;
        this.index = index;
        this.flavors = flavors;
        this.lists = lists;
    }

    WhereValue evaluate(Expression expression, Environment environment) throws Unresolvable {
        return switch (expression) {
            case Expression.IntegerLiteral literal -> new WhereValue.Whole(literal.value());
            case Expression.DecimalLiteral literal -> new WhereValue.Real(literal.value());
            case Expression.StringLiteral literal -> new WhereValue.Text(literal.value());
            case Expression.BooleanLiteral literal -> WhereValue.truth(literal.value());
            case Expression.Variable variable -> variable(variable.name(), environment);
            case Expression.Attribute attribute ->
                attribute(
                        evaluate(attribute.of(), environment), attribute.name().text());
            case Expression.Element element ->
                element.of().text().equals("$constraint") ? selected(element, environment) : item(element, environment);
            case Expression.Negation negation -> negated(evaluate(negation.operand(), environment));
            case Expression.Binary binary -> binary(binary, environment);
            case Expression.AddressOf address -> throw onlyInCode(address);
            case Expression.Assignment assignment -> throw onlyInCode(assignment);
            case Expression.Increment increment -> throw onlyInCode(increment);
            case Expression.Call call -> throw onlyInCode(call);
        };
    }

    private static AssertionError onlyInCode(Expression expression) {
        return new AssertionError("allowed in code only: " + expression);
    }

    private WhereValue variable(String name, Environment environment) throws Unresolvable {
        WhereValue value = environment.variables().get(name);
        if (value != null) {
            return value;
        }
        return switch (name) {
            case "$procedures" -> procedures(index.procedures());
            case "$modules" -> modules(index.modules());
            case "$start" -> start();
            case "$exit" -> exit();
            case "$globalId" -> new WhereValue.Whole(environment.id());
            default -> list(name);
        };
    }

    private WhereValue start() throws Unresolvable {
        Procedure start = program.start();
        if (start == null) {
            throw new Unresolvable("$start", "the program's function is not known");
        }
        return new WhereValue.OfProcedure(start);
    }

    /// The function by which a program exits: its own if it is statically linked.
    private WhereValue exit() throws Unresolvable {
        List<Procedure> own = index.procedures("exit");
        List<Procedure> found = own.isEmpty() ? index.imported("exit") : own;
        if (found.isEmpty()) {
            throw new Unresolvable("$exit", "the program does not call exit: use $start.return");
        }
        return new WhereValue.OfProcedure(found);
    }

    private static WhereValue procedures(Iterable<Procedure> procedures) {
        List<WhereValue> values = new ArrayList<>();
        procedures.forEach(procedure -> values.add(new WhereValue.OfProcedure(procedure)));
        return new WhereValue.Items(values);
    }

    private static WhereValue modules(List<CodeModule> modules) {
        return new WhereValue.Items(
                modules.stream().<WhereValue>map(WhereValue.OfModule::new).toList());
    }

    /// A list of a file, without procedures and modules that the program lacks. A list for other flavors is empty.
    private WhereValue list(String name) throws Unresolvable {
        Definition.Items list = lists.get(name);
        if (list == null) {
            throw new Unresolvable("list " + name, "it is not defined any more");
        }
        if (!flavors.include(list.flavors().stream().map(Name::text).toList())) {
            return new WhereValue.Items(List.of());
        }
        return switch (list.type()) {
            case PROCEDURE -> procedures(found(list, list.items()));
            case MODULE -> modules(index.modules(list.items()));
            case STRING, INTEGER, FLOAT ->
                new WhereValue.Items(list.items().stream()
                        .map(item -> literal(list.type(), item.text()))
                        .toList());
        };
    }

    private Set<Procedure> found(Definition.Items list, List<Name> items) {
        Set<Procedure> found = new LinkedHashSet<>();
        for (Name item : items) {
            found.addAll(index.procedures(item.text()));
            if (list.library()) {
                found.addAll(index.imported(item.text()));
            }
        }
        return found;
    }

    /// An item of a list. Indices refer to the list as written, even if the program lacks earlier items.
    private WhereValue item(Expression.Element element, Environment environment) throws Unresolvable {
        String name = element.of().text();
        long number = ((WhereValue.Whole) evaluate(element.index(), environment)).value();
        String item = name + "[" + number + "]";
        Definition.Items list = environment.variables().containsKey(name) ? null : lists.get(name);
        if (list == null || list.type() != Definition.ItemType.PROCEDURE && list.type() != Definition.ItemType.MODULE) {
            return at(variable(name, environment).elements(), number, item);
        }
        Name written = at(list.items(), number, item);
        if (list.type() == Definition.ItemType.MODULE) {
            List<CodeModule> modules = index.modules(List.of(written));
            if (modules.size() != 1) {
                throw new Unresolvable(item, "'" + written + "' means " + modules.size() + " modules, not one");
            }
            return new WhereValue.OfModule(modules.getFirst());
        }
        Set<Procedure> found = found(list, List.of(written));
        if (found.isEmpty()) {
            throw new Unresolvable(item, "the program has no " + written);
        }
        return new WhereValue.OfProcedure(List.copyOf(found));
    }

    private static <T> T at(List<T> items, long number, String item) throws Unresolvable {
        if (number < 0 || number >= items.size()) {
            throw new Unresolvable(item, "the list has " + items.size() + " items, and the first is 0");
        }
        return items.get((int) number);
    }

    private static WhereValue literal(Definition.ItemType type, String item) {
        return switch (type) {
            case INTEGER -> new WhereValue.Whole(Long.parseLong(item));
            case FLOAT -> new WhereValue.Real(Double.parseDouble(item));
            default -> new WhereValue.Text(item);
        };
    }

    private WhereValue attribute(WhereValue of, String name) throws Unresolvable {
        return switch (of) {
            case WhereValue.OfProcedure(List<Procedure> copies) -> {
                Procedure procedure = copies.getFirst();
                yield switch (name) {
                    case "entry" -> points(copies, copy -> List.of(new Point.Entry(copy)));
                    case "return" -> points(copies, copy -> List.of(new Point.Return(copy)));
                    case "calls" -> points(copies, program::calls);
                    case "name" -> new WhereValue.Text(procedure.name());
                    default -> throw new Unresolvable(procedure.path(), "a procedure has no thread");
                };
            }
            case WhereValue.OfModule(CodeModule module) ->
                name.equals("funcs") ? procedures(module.procedures()) : new WhereValue.Text(module.name());
            case WhereValue.OfPoint(Point.Call call) -> new WhereValue.Text(FunctionGlob.original(call.callee()));
            default -> throw new AssertionError(of + " has no " + name);
        };
    }

    private static WhereValue points(List<Procedure> copies, Function<Procedure, List<? extends Point>> points) {
        return new WhereValue.Items(copies.stream()
                .flatMap(copy -> points.apply(copy).stream())
                .<WhereValue>map(WhereValue.OfPoint::new)
                .toList());
    }

    private static WhereValue selected(Expression.Element element, Environment environment) throws Unresolvable {
        int wanted = (int) ((Expression.IntegerLiteral) element.index()).value();
        if (wanted >= environment.selected().size()) {
            throw new Unresolvable("$constraint[" + wanted + "]", "the focus has no such component");
        }
        WhereValue selected = environment.selected().get(wanted);
        if (selected instanceof WhereValue.Text(String name)) {
            throw new Unresolvable("$constraint[" + wanted + "]", "'" + name + "' is not a number");
        }
        return selected;
    }

    private static WhereValue negated(WhereValue operand) {
        return operand instanceof WhereValue.Real(double value)
                ? new WhereValue.Real(-value)
                : new WhereValue.Whole(-((WhereValue.Whole) operand).value());
    }

    private WhereValue binary(Expression.Binary binary, Environment environment) throws Unresolvable {
        Operator operator = binary.operator();
        WhereValue left = evaluate(binary.left(), environment);
        if (operator.isLogical()) {
            boolean decided = left.isTrue() == (operator == Operator.OR);
            return decided
                    ? WhereValue.truth(left.isTrue())
                    : WhereValue.truth(evaluate(binary.right(), environment).isTrue());
        }
        WhereValue right = evaluate(binary.right(), environment);
        if (left instanceof WhereValue.Text) {
            return WhereValue.truth(left.equals(right) == (operator == Operator.EQUAL));
        }
        if (left instanceof WhereValue.Whole(long a) && right instanceof WhereValue.Whole(long b)) {
            return new WhereValue.Whole(operator.apply(a, b));
        }
        double result = operator.apply(real(left), real(right));
        return operator.compares() ? new WhereValue.Whole((long) result) : new WhereValue.Real(result);
    }

    private static double real(WhereValue value) {
        return value instanceof WhereValue.Real(double real) ? real : ((WhereValue.Whole) value).value();
    }
}
