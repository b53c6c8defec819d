package org.mdlagent.runtime.mdl;

import java.util.List;
import java.util.OptionalInt;
import org.mdlagent.runtime.mdl.syntax.Code;
import org.mdlagent.runtime.mdl.syntax.Definition;
import org.mdlagent.runtime.mdl.syntax.Expression;
import org.mdlagent.runtime.mdl.syntax.Operator;
import org.mdlagent.runtime.mdl.syntax.Statement;

/// Whether a constraint's per-object flags can be one value that names the object (MDL paper, section 5:
/// vectorised by argument): all of its code must be `flag = EXPRESSION == $constraint[0];` or `flag = 0;`, and
/// must not use the object otherwise.
final class VectorForm {
    private final String flag;
    private OptionalInt misfit = OptionalInt.empty();
    private boolean compares;

    private VectorForm(String flag) {
        this.flag = flag;
    }

    static boolean fits(Definition.Constraint constraint) {
        return misfit(constraint).isEmpty();
    }

    /// Offset in the file of code of another form, or empty.
    static OptionalInt misfit(Definition.Constraint constraint) {
        VectorForm form = new VectorForm(constraint.name().text());
        form.check(constraint.statements());
        return form.misfit.isEmpty() && !form.compares ? OptionalInt.of(constraint.at()) : form.misfit;
    }

    private void check(List<Statement> statements) {
        for (Statement statement : statements) {
            switch (statement) {
                case Statement.Block block -> check(block.statements());
                case Statement.Foreach loop -> {
                    require(!mentions(loop.in()), loop.at());
                    check(List.of(loop.body()));
                }
                case Statement.If choice -> {
                    require(!mentions(choice.condition()), choice.at());
                    check(List.of(choice.body()));
                }
                case Statement.Insert insert ->
                    require(
                            !insert.constrained()
                                    && !mentions(insert.points())
                                    && insert.code().size() == 1
                                    && sets(insert.code().getFirst()),
                            insert.at());
            }
        }
    }

    private void require(boolean condition, int at) {
        if (!condition && misfit.isEmpty()) {
            misfit = OptionalInt.of(at);
        }
    }

    private boolean sets(Code code) {
        if (!(code instanceof Code.Effect(Expression.Assignment assignment))
                || assignment.operator() != null
                || !assignment.target().text().equals(flag)) {
            return false;
        }
        return switch (assignment.value()) {
            case Expression.IntegerLiteral literal -> literal.value() == 0;
            case Expression.Binary binary
            when binary.operator() == Operator.EQUAL -> {
                compares = true;
                yield isObject(binary.right()) && !mentions(binary.left())
                        || isObject(binary.left()) && !mentions(binary.right());
            }
            default -> false;
        };
    }

    private static boolean isObject(Expression expression) {
        return expression instanceof Expression.Element element
                && element.of().text().equals("$constraint")
                && element.index() instanceof Expression.IntegerLiteral index
                && index.value() == 0;
    }

    /// Whether it depends on the object, or on the flag.
    private boolean mentions(Expression expression) {
        return switch (expression) {
            case Expression.Element element -> element.of().text().equals("$constraint") || mentions(element.index());
            case Expression.Variable variable -> variable.name().equals(flag);
            case Expression.Attribute attribute -> mentions(attribute.of());
            case Expression.Negation negation -> mentions(negation.operand());
            case Expression.Binary binary -> mentions(binary.left()) || mentions(binary.right());
            case Expression.Assignment assignment -> true;
            case Expression.Increment increment -> true;
            case Expression.Call call -> call.arguments().stream().anyMatch(this::mentions);
            case Expression.AddressOf address -> false;
            case Expression.IntegerLiteral literal -> false;
            case Expression.DecimalLiteral literal -> false;
            case Expression.StringLiteral literal -> false;
            case Expression.BooleanLiteral literal -> false;
        };
    }
}
