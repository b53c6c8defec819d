package org.mdlagent.runtime.mdl;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.mdlagent.runtime.mdl.WhereType.Kind;
import org.mdlagent.runtime.mdl.syntax.Diagnostics;
import org.mdlagent.runtime.mdl.syntax.Expression;
import org.mdlagent.runtime.mdl.syntax.Spelling;
import org.mdlagent.runtime.mdl.syntax.Statement;

/// Checks names and types of statements and of expressions evaluated at request time.
final class StatementChecker {
    private final Diagnostics diagnostics;

    StatementChecker(Diagnostics diagnostics) {
        this.diagnostics = diagnostics;
    }

    void check(List<Statement> statements, Scope scope) {
        statements.forEach(statement -> check(statement, scope));
    }

    void check(Statement statement, Scope scope) {
        switch (statement) {
            case Statement.Block block -> check(block.statements(), scope);
            case Statement.Foreach loop -> {
                WhereType in = type(loop.in(), scope);
                WhereType element = in.element();
                if (element == null) {
                    diagnostics.error(loop.in().at(), "expected a list, found " + in);
                    element = WhereType.ANY;
                }
                check(loop.body(), scope.withVariable(loop.variable().text(), element));
            }
            case Statement.If choice -> {
                WhereType condition = type(choice.condition(), scope);
                if (!condition.isNumber()) {
                    diagnostics.error(choice.condition().at(), "expected a condition, found " + condition);
                }
                check(choice.body(), scope);
            }
            case Statement.Insert insert -> {
                WhereType points = type(insert.points(), scope);
                if (!points.isPoint()) {
                    boolean procedure = points.kind() == Kind.PROCEDURE && !points.list();
                    diagnostics.error(
                            insert.points().at(),
                            "expected points, found " + points,
                            procedure ? "a procedure has .entry, .return and .calls" : null);
                }
                new CodeChecker(diagnostics, this, scope, points, insert.side()).check(insert.code());
            }
        }
    }

    /// The type of an expression; reports errors in it.
    WhereType type(Expression expression, Scope scope) {
        return switch (expression) {
            case Expression.IntegerLiteral literal -> WhereType.NUMBER;
            case Expression.DecimalLiteral literal -> WhereType.DECIMAL;
            case Expression.StringLiteral literal -> WhereType.STRING;
            case Expression.BooleanLiteral literal -> WhereType.TRUTH;
            case Expression.Variable variable -> variable(variable, scope);
            case Expression.Attribute attribute -> attribute(attribute, scope);
            case Expression.Element element -> element(element, scope);
            case Expression.Negation negation -> number(negation.operand(), scope);
            case Expression.Binary binary -> binary(binary, scope);
            case Expression.AddressOf address -> onlyInCode(address, "an address");
            case Expression.Assignment assignment -> onlyInCode(assignment, "an assignment");
            case Expression.Increment increment -> onlyInCode(increment, "'++'");
            case Expression.Call call -> onlyInCode(call, "a call");
        };
    }

    private WhereType onlyInCode(Expression expression, String what) {
        diagnostics.error(expression.at(), what + " is allowed in code only", "code is between '(*' and '*)'");
        return WhereType.ANY;
    }

    private WhereType variable(Expression.Variable variable, Scope scope) {
        WhereType type = scope.variables().get(variable.name());
        if (type != null) {
            return type;
        }
        if (scope.values().containsKey(variable.name())) {
            diagnostics.error(variable.at(), "'" + variable.name() + "' has a value in code only");
        } else {
            diagnostics.error(
                    variable.at(),
                    "there is no '" + variable.name() + "'",
                    Spelling.hint(variable.name(), scope.variables().keySet()));
        }
        return WhereType.ANY;
    }

    private WhereType attribute(Expression.Attribute attribute, Scope scope) {
        WhereType of = type(attribute.of(), scope);
        String name = attribute.name().text();
        WhereType type = of.attribute(name);
        if (type == null) {
            diagnostics.error(
                    attribute.at(),
                    of + " has no '" + name + "'",
                    of.list()
                            ? "use foreach for the elements of a list"
                            : Spelling.hint(name, of.kind().attributes()));
            return WhereType.ANY;
        }
        if (of.kind() == Kind.RESOURCE
                && attribute.of() instanceof Expression.Element element
                && element.index() instanceof Expression.IntegerLiteral index
                && scope.selection() != null) {
            scope.selection().use(index.value(), name, element.at());
        }
        return type;
    }

    private WhereType element(Expression.Element element, Scope scope) {
        String name = element.of().text();
        if (!name.equals("$constraint")) {
            return itemOfList(element, scope);
        }
        Selection selection = scope.selection();
        if (selection == null) {
            diagnostics.error(element.at(), "$constraint is allowed in constraints only");
            return WhereType.ANY;
        }
        int last = selection.components() - 1;
        if (!(element.index() instanceof Expression.IntegerLiteral index) || index.value() > last) {
            diagnostics.error(element.index().at(), "expected a number from 0 to " + last);
            return WhereType.ANY;
        }
        return selection.ofCode() ? WhereType.RESOURCE : WhereType.NUMBER;
    }

    /// `list[n]`, where the first has the number 0.
    private WhereType itemOfList(Expression.Element element, Scope scope) {
        String name = element.of().text();
        WhereType type = scope.variables().get(name);
        if (type == null || !type.list() && type.kind() != Kind.ANY) {
            diagnostics.error(
                    element.at(),
                    "'" + name + "' has no elements here",
                    type == null
                            ? Spelling.hint(
                                    name,
                                    Stream.concat(Stream.of("$constraint"), lists(scope))
                                            .toList())
                            : null);
            return WhereType.ANY;
        }
        if (number(element.index(), scope).kind() == Kind.DECIMAL) {
            diagnostics.error(element.index().at(), "expected a whole number, the first of a list is 0");
        }
        WhereType item = type.element();
        return item == null ? WhereType.ANY : item;
    }

    private static Stream<String> lists(Scope scope) {
        return scope.variables().entrySet().stream()
                .filter(variable -> variable.getValue().list())
                .map(Map.Entry::getKey);
    }

    private WhereType number(Expression operand, Scope scope) {
        WhereType type = type(operand, scope);
        if (!type.isNumber()) {
            diagnostics.error(operand.at(), "expected a number, found " + type);
            return WhereType.ANY;
        }
        return type;
    }

    private WhereType binary(Expression.Binary binary, Scope scope) {
        WhereType left = type(binary.left(), scope);
        WhereType right = type(binary.right(), scope);
        boolean numbers = left.isNumber() && right.isNumber();
        boolean strings = left.isString() && right.isString();
        switch (binary.operator()) {
            case EQUAL, NOT_EQUAL -> {
                if (!numbers && !strings) {
                    diagnostics.error(binary.at(), left + " and " + right + " cannot be compared");
                }
                return WhereType.TRUTH;
            }
            default -> {
                if (!numbers) {
                    diagnostics.error(
                            binary.at(),
                            "'" + binary.operator().spelling() + "' needs two numbers, found " + left + " and "
                                    + right);
                }
            }
        }
        if (binary.operator().compares() || binary.operator().isLogical()) {
            return WhereType.TRUTH;
        }
        return left.kind() == Kind.DECIMAL || right.kind() == Kind.DECIMAL ? WhereType.DECIMAL : WhereType.NUMBER;
    }
}
