package org.mdlagent.runtime.mdl.syntax;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.mdl.syntax.Token.Kind;

/// Parses expressions: assignment, then operators by precedence, then primary expressions.
final class ExpressionParser {
    /// Limits recursion over the tree: chains of operators nest on the left.
    private static final int PARTS_MAX = 1_000;

    private static final Map<Kind, Operator> OPERATORS = operators();

    private final TokenStream tokens;
    private int parts;

    ExpressionParser(TokenStream tokens) {
        this.tokens = tokens;
    }

    private static Map<Kind, Operator> operators() {
        Map<Kind, Operator> operators = new EnumMap<>(Kind.class);
        for (Operator operator : Operator.values()) {
            for (Kind kind : Kind.values()) {
                if (kind.isOperator() && kind.spelling().equals(operator.spelling())) {
                    operators.put(kind, operator);
                }
            }
        }
        return operators;
    }

    /// Parses an expression.
    Expression expression() {
        parts = 0;
        return assignment();
    }

    private Expression assignment() {
        tokens.enter();
        Expression left = binary(1);
        Token token = tokens.peek();
        Operator operator = switch (token.kind()) {
            case ADD_ASSIGN -> Operator.ADD;
            case SUBTRACT_ASSIGN -> Operator.SUBTRACT;
            default -> null;
        };
        if (operator != null || token.kind() == Kind.ASSIGN) {
            tokens.take();
            left = new Expression.Assignment(target(left, token), operator, assignment(), token.at());
        }
        tokens.leave();
        return left;
    }

    private Name target(Expression expression, Token operator) {
        if (expression instanceof Expression.Variable variable) {
            return new Name(variable.name(), variable.at());
        }
        throw tokens.error(
                expression.at(),
                "expected the name of a counter before " + operator.kind().description(),
                null);
    }

    private Expression binary(int strength) {
        Expression left = prefix();
        for (Operator operator = operator(strength); operator != null; operator = operator(strength)) {
            int at = tokens.take().at();
            left = new Expression.Binary(operator, left, binary(operator.strength() + 1), at);
        }
        return left;
    }

    private @Nullable Operator operator(int strength) {
        Operator operator = OPERATORS.get(tokens.peek().kind());
        return operator == null || operator.strength() < strength ? null : operator;
    }

    private Expression prefix() {
        int at = tokens.peek().at();
        if (tokens.accept(Kind.MINUS)) {
            tokens.enter();
            Expression operand = prefix();
            tokens.leave();
            return new Expression.Negation(operand, at);
        }
        if (tokens.accept(Kind.AMPERSAND)) {
            return new Expression.AddressOf(tokens.name("the name of a global variable"), at);
        }
        return postfix();
    }

    private Expression postfix() {
        Expression left = primary();
        while (true) {
            countPart();
            Token token = tokens.peek();
            if (tokens.accept(Kind.DOT)) {
                left = new Expression.Attribute(left, tokens.name("the name of an attribute"));
            } else if (tokens.accept(Kind.INCREMENT)) {
                left = new Expression.Increment(target(left, token), token.at());
            } else if (left instanceof Expression.Variable variable && token.kind() == Kind.OPEN_BRACKET) {
                left = element(new Name(variable.name(), variable.at()));
            } else if (left instanceof Expression.Variable variable && token.kind() == Kind.OPEN) {
                left = call(new Name(variable.name(), variable.at()));
            } else {
                return left;
            }
        }
    }

    private void countPart() {
        if (++parts > PARTS_MAX) {
            throw tokens.error(tokens.peek().at(), "an expression has at most " + PARTS_MAX + " parts", null);
        }
    }

    private Expression element(Name of) {
        tokens.expect(Kind.OPEN_BRACKET);
        Expression index = assignment();
        tokens.expect(Kind.CLOSE_BRACKET);
        return new Expression.Element(of, index);
    }

    private Expression call(Name name) {
        tokens.expect(Kind.OPEN);
        Name function = name;
        boolean named = name.text().equals("Call");
        if (named) {
            Token string = tokens.expect(Kind.STRING, "the function's name as a string");
            function = new Name(string.text(), string.at());
        }
        List<Expression> arguments = new ArrayList<>();
        boolean first = !named;
        while (!tokens.at(Kind.CLOSE)) {
            if (!first) {
                tokens.expect(Kind.COMMA, "',' or ')'");
            }
            first = false;
            arguments.add(assignment());
        }
        tokens.take();
        return new Expression.Call(function, List.copyOf(arguments));
    }

    private Expression primary() {
        Token token = tokens.peek();
        switch (token.kind()) {
            case INTEGER, DECIMAL -> {
                return number();
            }
            case STRING -> {
                tokens.take();
                return new Expression.StringLiteral(token.text(), token.at());
            }
            case IDENTIFIER -> {
                tokens.take();
                return switch (token.text().toLowerCase(Locale.ROOT)) {
                    case "true" -> new Expression.BooleanLiteral(true, token.at());
                    case "false" -> new Expression.BooleanLiteral(false, token.at());
                    default -> new Expression.Variable(token.text(), token.at());
                };
            }
            case OPEN -> {
                tokens.take();
                Expression inner = assignment();
                tokens.expect(Kind.CLOSE);
                return inner;
            }
            default -> throw tokens.expected("an expression");
        }
    }

    /// Parses a number. The sign is an operator.
    Expression number() {
        Token token = tokens.take();
        if (token.kind() == Kind.DECIMAL) {
            return new Expression.DecimalLiteral(Double.parseDouble(token.text()), token.at());
        }
        try {
            return new Expression.IntegerLiteral(Long.parseLong(token.text()), token.at());
        } catch (NumberFormatException e) {
            throw tokens.error(token.at(), "the number does not fit into 64 bits", "the largest is " + Long.MAX_VALUE);
        }
    }
}
