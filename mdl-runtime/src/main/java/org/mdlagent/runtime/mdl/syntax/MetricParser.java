package org.mdlagent.runtime.mdl.syntax;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.mdlagent.runtime.mdl.syntax.Token.Kind;

/// Parses metrics and constraints.
final class MetricParser {
    private static final Set<String> SETTINGS =
            Set.of("name", "units", "unitsType", "aggregateOperator", "style", "mode");

    private static final Set<String> FIELDS = Set.of(
            "name",
            "units",
            "unitsType",
            "aggregateOperator",
            "style",
            "mode",
            "flavor",
            "constraint",
            "counter",
            "base");

    private final TokenStream tokens;
    private final StatementParser statements;

    MetricParser(TokenStream tokens) {
        this.tokens = tokens;
        this.statements = new StatementParser(tokens);
    }

    /// Parses `metric NAME { field... }`.
    Definition metric() {
        int at = tokens.take().at();
        Name name = tokens.name("the metric's name");
        tokens.expect(Kind.OPEN_BRACE);
        List<MetricField> fields = new ArrayList<>();
        while (!tokens.at(Kind.CLOSE_BRACE) && !tokens.atBoundary()) {
            TokenStream.Mark mark = tokens.mark();
            try {
                fields.add(field());
            } catch (SyntaxError e) {
                tokens.recover(mark, FIELDS);
            }
        }
        tokens.close("metric " + name, at);
        return new Definition.Metric(name, List.copyOf(fields), at);
    }

    private MetricField field() {
        int at = tokens.peek().at();
        if (tokens.atWord(SETTINGS)) {
            return setting();
        }
        if (tokens.atWord("flavor")) {
            return new MetricField.Flavors(flavors(), at);
        }
        if (tokens.atWord("constraint")) {
            return constraintField();
        }
        if (tokens.atWord("base")) {
            return base();
        }
        if (tokens.acceptWord("counter")) {
            Name counter = tokens.name("the counter's name");
            tokens.semicolon();
            return new MetricField.Temporary(counter, at);
        }
        throw tokens.expected("a field of a metric", FIELDS);
    }

    private MetricField setting() {
        Token field = tokens.take();
        boolean quoted = field.is("name");
        Token value = tokens.expect(
                quoted ? Kind.STRING : Kind.IDENTIFIER, quoted ? "a string" : "a word for " + field.text());
        tokens.semicolon();
        return new MetricField.Setting(new Name(field.text(), field.at()), new Name(value.text(), value.at()));
    }

    /// Parses `flavor { name, ... };`, with or without `=`, or `flavor name;`.
    List<Name> flavors() {
        tokens.expectWord("flavor");
        tokens.accept(Kind.ASSIGN);
        List<Name> flavors = new ArrayList<>();
        if (tokens.at(Kind.IDENTIFIER)) {
            flavors.add(tokens.name("a flavor"));
        } else {
            tokens.expect(Kind.OPEN_BRACE, "'{' or a flavor");
            do {
                flavors.add(tokens.name("a flavor"));
            } while (tokens.accept(Kind.COMMA));
            tokens.expect(Kind.CLOSE_BRACE, "',' or '}'");
        }
        tokens.semicolon();
        return List.copyOf(flavors);
    }

    private MetricField base() {
        int at = tokens.take().at();
        tokens.expectWord("is");
        ValueKind kind = valueKind();
        String event = "";
        if (kind.hasEvent()) {
            tokens.expect(Kind.OPEN, "'(\"event\")'");
            event = tokens.expect(Kind.STRING, "the event's name as a string").text();
            tokens.expect(Kind.CLOSE);
        }
        return new MetricField.Base(kind, event, statements.block("the base"), at);
    }

    private ValueKind valueKind() {
        for (ValueKind kind : ValueKind.values()) {
            if (tokens.acceptWord(kind.word())) {
                return kind;
            }
        }
        throw tokens.expected("the type of a value", ValueKind.words());
    }

    private MetricField constraintField() {
        int at = tokens.take().at();
        Name name = tokens.name("the constraint's name");
        if (!tokens.at(Kind.SLASH) && !tokens.atWord("is")) {
            tokens.semicolon();
            return new MetricField.Constrainable(name, at);
        }
        Definition.Constraint constraint = constraint(name, at);
        if (!constraint.replaces()) {
            throw tokens.error(
                    at,
                    "a constraint that is defined in a metric replaces its base",
                    "write 'is replace TYPE', or define it outside and name it here");
        }
        return new MetricField.Replacement(constraint);
    }

    /// Parses `constraint NAME /path is ...` outside a metric.
    Definition constraint() {
        int at = tokens.take().at();
        Definition.Constraint constraint = constraint(tokens.name("the constraint's name"), at);
        if (constraint.replaces()) {
            throw tokens.error(
                    at, "'is replace' is allowed in metrics only", "define it in the metric whose base it replaces");
        }
        return constraint;
    }

    private Definition.Constraint constraint(Name name, int at) {
        List<Name> path = path();
        tokens.expectWord("is");
        if (tokens.acceptWord("default")) {
            tokens.semicolon();
            return new Definition.Constraint(name, path, false, null, null, List.of(), at);
        }
        boolean replaces = tokens.acceptWord("replace");
        Definition.Index index = !replaces && tokens.acceptWord("vector") ? index() : null;
        if (!replaces && index == null && !tokens.atWord("counter")) {
            throw tokens.expected(
                    "'counter', 'vector', 'default' or 'replace'", List.of("counter", "vector", "default", "replace"));
        }
        ValueKind kind = index == null ? valueKind() : ValueKind.COUNTER;
        if (kind.hasEvent()) {
            throw tokens.error(at, "only a counter or a timer can replace a base", null);
        }
        List<Statement> body = statements.block("constraint " + name);
        return new Definition.Constraint(name, path, replaces, kind, index, body, at);
    }

    private Definition.Index index() {
        for (Definition.Index index : Definition.Index.values()) {
            if (tokens.acceptWord(index.word())) {
                return index;
            }
        }
        throw tokens.expected("'direct' or 'hashed'", List.of("direct", "hashed"));
    }

    private List<Name> path() {
        List<Name> path = new ArrayList<>();
        tokens.expect(Kind.SLASH, "a path such as '/Code'");
        do {
            Token token = tokens.peek();
            if (!tokens.accept(Kind.TIMES)) {
                token = tokens.expect(Kind.IDENTIFIER, "a name or '*' in a path");
            }
            path.add(new Name(token.text(), token.at()));
        } while (tokens.accept(Kind.SLASH));
        return List.copyOf(path);
    }
}
