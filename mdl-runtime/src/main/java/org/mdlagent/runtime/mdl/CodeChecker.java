package org.mdlagent.runtime.mdl;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.mdl.WhereType.Kind;
import org.mdlagent.runtime.mdl.syntax.Code;
import org.mdlagent.runtime.mdl.syntax.Diagnostics;
import org.mdlagent.runtime.mdl.syntax.Expression;
import org.mdlagent.runtime.mdl.syntax.Name;
import org.mdlagent.runtime.mdl.syntax.Spelling;
import org.mdlagent.runtime.mdl.syntax.Statement;
import org.mdlagent.runtime.mdl.syntax.ValueKind;

/// Checks code that runs in the target. Its values are 64-bit integers; arguments may also be strings.
final class CodeChecker {
    /// Arguments in registers.
    private static final int ARGUMENTS = 6;

    private static final Set<String> FUNCTIONS = Set.of(
            "startProcessTimer",
            "stopProcessTimer",
            "startWallTimer",
            "stopWallTimer",
            "readSymbol",
            "readAddress",
            "fileOf");

    /// Functions of older Paradyn versions, replaced by operators.
    private static final Map<String, String> OBSOLETE = Map.of(
            "setCounter", "write 'counter = value'",
            "addCounter", "write 'counter += value'",
            "subCounter", "write 'counter -= value'",
            "functionCall", "write 'Call(\"function\", ...)'");

    private final Diagnostics diagnostics;
    private final StatementChecker statements;
    private final Scope scope;
    private final WhereType points;
    private final Statement.Side side;

    /// @param points the points where the code runs
    /// @param side   before or after the points
    CodeChecker(
            Diagnostics diagnostics, StatementChecker statements, Scope scope, WhereType points, Statement.Side side) {
        this.diagnostics = diagnostics;
        this.statements = statements;
        this.scope = scope;
        this.points = points;
        this.side = side;
    }

    void check(List<Code> code) {
        for (Code statement : code) {
            switch (statement) {
                case Code.Effect(Expression effect) -> effect(effect);
                case Code.If(Expression condition, List<Code> body) -> {
                    number(condition);
                    check(body);
                }
            }
        }
    }

    private void effect(Expression effect) {
        switch (effect) {
            case Expression.Increment increment -> counter(increment.target());
            case Expression.Assignment assignment -> number(assignment);
            case Expression.Call call -> call(call, true);
            default -> {
                int errors = diagnostics.errors();
                number(effect);
                if (diagnostics.errors() == errors) {
                    boolean compares = effect instanceof Expression.Binary binary
                            && binary.operator().compares();
                    diagnostics.error(
                            effect.at(), "the statement has no effect", compares ? "did you mean '='?" : null);
                }
            }
        }
    }

    /// Checks an expression whose value is used.
    private void number(Expression expression) {
        switch (expression) {
            case Expression.IntegerLiteral literal -> {}
            case Expression.DecimalLiteral literal -> error(literal, "expected a whole number", null);
            case Expression.StringLiteral literal ->
                error(literal, "expected a number, found a string", "a string can be an argument of a call");
            case Expression.BooleanLiteral literal -> error(literal, "expected a number", "write 1 or 0");
            case Expression.Variable variable -> variable(variable, false);
            case Expression.Attribute attribute -> constant(attribute, false);
            case Expression.Element element -> element(element, false);
            case Expression.Negation negation -> number(negation.operand());
            case Expression.AddressOf address -> {
                if (scope.values().containsKey(address.name().text())) {
                    error(address, "'" + address.name() + "' has no address", "each thread has its own");
                }
            }
            case Expression.Binary binary -> {
                number(binary.left());
                number(binary.right());
            }
            case Expression.Assignment assignment -> {
                counter(assignment.target());
                number(assignment.value());
            }
            case Expression.Increment increment ->
                error(increment, "the value of '++' cannot be used", "write it as a statement of its own");
            case Expression.Call call -> call(call, false);
        }
    }

    private void variable(Expression.Variable variable, boolean argument) {
        String name = variable.name();
        ValueKind kind = scope.values().get(name);
        if (kind == ValueKind.COUNTER) {
            return;
        }
        switch (name) {
            case "$return" -> {
                if (!knowsResult()) {
                    error(variable, "$return is known at returns and after calls only, not at " + points, null);
                }
            }
            case "$arg" -> error(variable, "expected the number of an argument", "write $arg[0] for the first");
            default -> {
                if (kind != null) {
                    error(variable, "a " + kind.word() + " has no value in code", remedy(kind, name));
                } else if (scope.variables().containsKey(name)) {
                    constant(variable, argument);
                } else {
                    unknown(new Name(name, variable.at()), "read a global variable by readSymbol(\"" + name + "\")");
                }
            }
        }
    }

    private boolean knowsResult() {
        return switch (points.kind()) {
            case RETURN, ANY -> true;
            case CALL -> side == Statement.Side.AFTER;
            default -> false;
        };
    }

    /// Checks an expression that is constant at run time.
    private void constant(Expression expression, boolean argument) {
        WhereType type = statements.type(expression, scope);
        boolean fits = type.kind() == Kind.NUMBER && !type.list() || argument && type.isString();
        if (!fits && type.kind() != Kind.ANY) {
            error(expression, "expected a number, found " + type, null);
        }
    }

    private void element(Expression.Element element, boolean argument) {
        if (!element.of().text().equals("$arg")) {
            constant(element, argument);
        } else if (!(element.index() instanceof Expression.IntegerLiteral index) || index.value() >= ARGUMENTS) {
            diagnostics.error(element.index().at(), "expected the number of an argument, from 0 to " + (ARGUMENTS - 1));
        }
    }

    private void counter(Name name) {
        ValueKind kind = scope.values().get(name.text());
        if (kind == null && scope.variables().containsKey(name.text())) {
            diagnostics.error(name.at(), "'" + name + "' cannot be changed by code");
        } else if (kind == null) {
            unknown(name, null);
        } else if (kind != ValueKind.COUNTER) {
            diagnostics.error(name.at(), "a " + kind.word() + " cannot be assigned to", remedy(kind, name.text()));
        }
    }

    private void unknown(Name name, @Nullable String otherwise) {
        String similar = Spelling.hint(name.text(), scope.names());
        diagnostics.error(name.at(), "there is no '" + name + "'", similar == null ? otherwise : similar);
    }

    private static @Nullable String remedy(ValueKind kind, String name) {
        return switch (kind) {
            case PROCESS_TIMER -> "write startProcessTimer(" + name + ") and stopProcessTimer(" + name + ")";
            case WALL_TIMER -> "write startWallTimer(" + name + ") and stopWallTimer(" + name + ")";
            case HARDWARE_COUNTER, HARDWARE_TIMER -> "the kernel counts it";
            case COUNTER, VOID -> null;
        };
    }

    private void call(Expression.Call call, boolean effect) {
        String function = call.function().text();
        String modern = OBSOLETE.get(function);
        if (modern != null) {
            error(call, "'" + function + "' belongs to an older Paradyn", modern);
            return;
        }
        switch (function) {
            case "startProcessTimer", "stopProcessTimer" -> timer(call, ValueKind.PROCESS_TIMER, effect);
            case "startWallTimer", "stopWallTimer" -> timer(call, ValueKind.WALL_TIMER, effect);
            case "readSymbol" -> {
                if (hasArguments(call, 1) && !(call.arguments().getFirst() instanceof Expression.StringLiteral)) {
                    error(call.arguments().getFirst(), "expected the name of a global variable as a string", null);
                }
            }
            case "readAddress", "fileOf" -> {
                if (hasArguments(call, 1)) {
                    number(call.arguments().getFirst());
                }
            }
            default -> foreign(call);
        }
    }

    /// A call of a function of the target.
    private void foreign(Expression.Call call) {
        if (call.arguments().size() > ARGUMENTS) {
            error(call.arguments().get(ARGUMENTS), "a call has at most " + ARGUMENTS + " arguments", null);
        }
        for (Expression argument : call.arguments()) {
            switch (argument) {
                case Expression.StringLiteral literal -> {}
                case Expression.Variable variable
                when isTimer(variable.name()) ->
                    error(
                            variable,
                            "a timer cannot be an argument of " + call.function(),
                            Spelling.hint(call.function().text(), FUNCTIONS));
                case Expression.Variable variable -> variable(variable, true);
                case Expression.Attribute attribute -> constant(attribute, true);
                case Expression.Element element -> element(element, true);
                default -> number(argument);
            }
        }
    }

    private boolean isTimer(String name) {
        ValueKind kind = scope.values().get(name);
        return kind != null && kind.isTimer();
    }

    private void timer(Expression.Call call, ValueKind kind, boolean effect) {
        if (!effect) {
            error(call, call.function() + " has no value", "write it as a statement of its own");
        }
        if (!hasArguments(call, 1)) {
            return;
        }
        Expression argument = call.arguments().getFirst();
        String name = argument instanceof Expression.Variable variable ? variable.name() : "";
        ValueKind actual = scope.values().get(name);
        if (actual == kind) {
            return;
        }
        if (actual != null) {
            String other = actual.isTimer() ? remedy(actual, name) : null;
            error(argument, "expected a " + kind.word() + ", '" + name + "' is a " + actual.word(), other);
        } else if (name.isEmpty()) {
            error(argument, "expected the name of a " + kind.word(), null);
        } else {
            unknown(new Name(name, argument.at()), null);
        }
    }

    private boolean hasArguments(Expression.Call call, int count) {
        boolean right = call.arguments().size() == count;
        if (!right) {
            error(
                    call,
                    call.function() + " has one argument, found "
                            + call.arguments().size(),
                    null);
        }
        return right;
    }

    private void error(Expression at, String message, @Nullable String hint) {
        diagnostics.error(at.at(), message, hint);
    }
}
