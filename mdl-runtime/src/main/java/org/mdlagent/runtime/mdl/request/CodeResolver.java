package org.mdlagent.runtime.mdl.request;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.mdl.syntax.Code;
import org.mdlagent.runtime.mdl.syntax.Expression;
import org.mdlagent.runtime.mdl.syntax.Name;

/// Resolves the names in code for one request. Types have been checked.
final class CodeResolver {
    private final Program program;
    private final WhereEvaluator where;
    private final Environment environment;

    CodeResolver(Program program, WhereEvaluator where, Environment environment) {
        this.program = program;
        this.where = where;
        this.environment = environment;
    }

    List<SnippetRequest.Step> steps(List<Code> code) throws Unresolvable {
        List<SnippetRequest.Step> steps = new ArrayList<>();
        for (Code statement : code) {
            steps.add(
                    switch (statement) {
                        case Code.Effect(Expression effect) -> new SnippetRequest.Run(resolve(effect));
                        case Code.If(Expression condition, List<Code> body) ->
                            new SnippetRequest.If(resolve(condition), steps(body));
                    });
        }
        return List.copyOf(steps);
    }

    private SnippetExpression resolve(Expression expression) throws Unresolvable {
        return switch (expression) {
            case Expression.IntegerLiteral literal -> new SnippetExpression.Constant(literal.value());
            case Expression.StringLiteral literal -> new SnippetExpression.Text(literal.value());
            case Expression.Variable variable -> variable(variable);
            case Expression.Attribute attribute -> constant(attribute);
            case Expression.Element element ->
                element.of().text().equals("$arg") ? argument(element) : constant(element);
            case Expression.Negation negation -> new SnippetExpression.Negate(resolve(negation.operand()));
            case Expression.AddressOf address ->
                new SnippetExpression.AddressOf(symbol(address.name().text()));
            case Expression.Binary binary ->
                new SnippetExpression.Binary(binary.operator(), resolve(binary.left()), resolve(binary.right()));
            case Expression.Assignment assignment -> assignment(assignment);
            case Expression.Increment increment ->
                new SnippetExpression.Add(value(increment.target()), new SnippetExpression.Constant(1));
            case Expression.Call call -> call(call);
            case Expression.DecimalLiteral literal -> throw new AssertionError(literal);
            case Expression.BooleanLiteral literal -> throw new AssertionError(literal);
        };
    }

    private SnippetExpression variable(Expression.Variable variable) throws Unresolvable {
        if (variable.name().equals("$return")) {
            return new SnippetExpression.Result();
        }
        Value value = environment.values().get(variable.name());
        return value == null ? constant(variable) : new SnippetExpression.Load(value);
    }

    /// The environment of the surrounding statements.
    private SnippetExpression constant(Expression expression) throws Unresolvable {
        return switch (where.evaluate(expression, environment)) {
            case WhereValue.Whole(long value) -> new SnippetExpression.Constant(value);
            case WhereValue.Text(String value) -> new SnippetExpression.Text(value);
            default -> throw new AssertionError("no constant of code: " + expression);
        };
    }

    private static SnippetExpression argument(Expression.Element element) {
        return new SnippetExpression.Argument((int) ((Expression.IntegerLiteral) element.index()).value());
    }

    private Value value(Name name) {
        return Objects.requireNonNull(environment.values().get(name.text()), name.text());
    }

    private SnippetExpression assignment(Expression.Assignment assignment) throws Unresolvable {
        Value target = value(assignment.target());
        SnippetExpression value = resolve(assignment.value());
        return switch (assignment.operator()) {
            case ADD -> new SnippetExpression.Add(target, value);
            case SUBTRACT -> new SnippetExpression.Add(target, new SnippetExpression.Negate(value));
            case null, default -> new SnippetExpression.Store(target, value);
        };
    }

    private SnippetExpression call(Expression.Call call) throws Unresolvable {
        List<Expression> arguments = call.arguments();
        String function = call.function().text();
        switch (function) {
            case "startProcessTimer", "startWallTimer" -> {
                return new SnippetExpression.Start(timer(arguments.getFirst()));
            }
            case "stopProcessTimer", "stopWallTimer" -> {
                return new SnippetExpression.Stop(timer(arguments.getFirst()));
            }
            case "readSymbol" -> {
                String name = ((Expression.StringLiteral) arguments.getFirst()).value();
                return new SnippetExpression.Global(variable(symbol(name)));
            }
            case "readAddress" -> {
                return new SnippetExpression.Memory(resolve(arguments.getFirst()));
            }
            case "fileOf" -> {
                return new SnippetExpression.FileOf(resolve(arguments.getFirst()));
            }
            default -> {
                Symbol target = function(function);
                List<SnippetExpression> resolved = new ArrayList<>();
                for (Expression argument : arguments) {
                    resolved.add(resolve(argument));
                }
                return new SnippetExpression.Call(target, List.copyOf(resolved));
            }
        }
    }

    private Value timer(Expression argument) {
        Expression.Variable timer = (Expression.Variable) argument;
        return value(new Name(timer.name(), timer.at()));
    }

    private Symbol symbol(String name) throws Unresolvable {
        @Nullable Symbol symbol = program.symbol(name);
        if (symbol == null) {
            throw new Unresolvable(name, "the program has no such symbol");
        }
        return symbol;
    }

    private Symbol function(String name) throws Unresolvable {
        @Nullable Symbol function = program.function(name);
        if (function == null) {
            throw new Unresolvable(name, "neither the program nor a library loaded at its start has this function");
        }
        return function;
    }

    private static Symbol variable(Symbol symbol) throws Unresolvable {
        int size = symbol.size();
        if (size != 1 && size != 2 && size != 4 && size != 8) {
            throw new Unresolvable(symbol.name(), "it has " + size + " bytes, code reads 1, 2, 4 or 8");
        }
        return symbol;
    }
}
