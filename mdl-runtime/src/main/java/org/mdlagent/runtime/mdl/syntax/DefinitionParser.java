package org.mdlagent.runtime.mdl.syntax;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.mdlagent.runtime.mdl.syntax.Token.Kind;

/// Parses a file: a sequence of definitions.
final class DefinitionParser {
    private static final Set<String> WORDS = Set.of(
            "list", "resourceList", "constraint", "metric", "exclude", "tunable_constant", "daemon", "process", "visi");

    private static final Set<String> ALL_WORDS =
            Stream.concat(WORDS.stream(), StatementParser.WORDS.stream()).collect(Collectors.toSet());

    private final TokenStream tokens;
    private final StatementParser statements;
    private final MetricParser metrics;
    private final ListParser lists;

    DefinitionParser(TokenStream tokens) {
        this.tokens = tokens;
        this.statements = new StatementParser(tokens);
        this.metrics = new MetricParser(tokens);
        this.lists = new ListParser(tokens, metrics);
    }

    /// Parses the file. Drops definitions with errors.
    SyntaxTree tree(SourceFile file) {
        List<Definition> definitions = new ArrayList<>();
        Set<String> defective = new HashSet<>();
        while (!tokens.at(Kind.END)) {
            tokens.resetNesting();
            TokenStream.Mark mark = tokens.mark();
            int errors = tokens.diagnostics().errors();
            try {
                Definition definition = definition();
                if (tokens.diagnostics().errors() == errors) {
                    definitions.add(definition);
                }
            } catch (SyntaxError e) {
                tokens.recover(mark, Set.of());
            }
            if (tokens.diagnostics().errors() > errors) {
                defective.add(tokens.nameOf(mark));
            }
        }
        return new SyntaxTree(file, List.copyOf(definitions), Set.copyOf(defective));
    }

    private Definition definition() {
        Token token = tokens.peek();
        return switch (token.kind() == Kind.IDENTIFIER ? token.text() : "") {
            case "list", "resourceList" -> lists.list();
            case "constraint" -> metrics.constraint();
            case "metric" -> metrics.metric();
            case "exclude" -> exclude();
            case "tunable_constant" -> tunables();
            case "daemon", "process", "visi" -> foreign();
            default -> {
                if (statements.begins()) {
                    yield new Definition.Bare(statements.statement());
                }
                throw tokens.expected("a definition (metric, constraint, list, exclude, ...)", ALL_WORDS);
            }
        };
    }

    private Definition exclude() {
        tokens.take();
        boolean ignoringCase = false;
        boolean regex = false;
        while (tokens.at(Kind.IDENTIFIER)) {
            if (tokens.acceptWord("noCase")) {
                ignoringCase = true;
            } else if (tokens.acceptWord("regex")) {
                regex = true;
            } else {
                throw tokens.expected("'noCase', 'regex' or a string", List.of("noCase", "regex"));
            }
        }
        Token what = tokens.expect(Kind.STRING, "what to exclude, as a string");
        tokens.semicolon();
        return new Definition.Exclude(what.text(), ignoringCase, regex, what.at());
    }

    private Definition tunables() {
        int at = tokens.take().at();
        List<Definition.Tunable> tunables = new ArrayList<>();
        if (!tokens.accept(Kind.OPEN_BRACE)) {
            return new Definition.Tunables(List.of(tunable()), at);
        }
        while (!tokens.at(Kind.CLOSE_BRACE) && !tokens.atBoundary()) {
            TokenStream.Mark mark = tokens.mark();
            try {
                tunables.add(tunable());
            } catch (SyntaxError e) {
                tokens.recover(mark, Set.of());
            }
        }
        tokens.close("tunable_constant", at);
        return new Definition.Tunables(List.copyOf(tunables), at);
    }

    private Definition.Tunable tunable() {
        Token name = tokens.expect(Kind.STRING, "the constant's name as a string");
        Expression value = new ExpressionParser(tokens).expression();
        Expression plain = value instanceof Expression.Negation negation ? negation.operand() : value;
        if (!(plain instanceof Expression.IntegerLiteral
                || plain instanceof Expression.DecimalLiteral
                || plain instanceof Expression.BooleanLiteral)) {
            throw tokens.error(value.at(), "expected a number, 'true' or 'false'", null);
        }
        tokens.semicolon();
        return new Definition.Tunable(new Name(name.text(), name.at()), value);
    }

    /// Parses definitions that only Paradyn uses: `KIND NAME { field value...; ... }`.
    private Definition foreign() {
        Token kind = tokens.take();
        Name name = tokens.name("the name of the " + kind.text());
        tokens.expect(Kind.OPEN_BRACE);
        List<Definition.ForeignField> fields = new ArrayList<>();
        while (!tokens.at(Kind.CLOSE_BRACE) && !tokens.atBoundary()) {
            TokenStream.Mark mark = tokens.mark();
            try {
                fields.add(foreignField());
            } catch (SyntaxError e) {
                tokens.recover(mark, Set.of());
            }
        }
        tokens.close(kind.text() + " " + name, kind.at());
        return new Definition.Foreign(new Name(kind.text(), kind.at()), name, List.copyOf(fields), kind.at());
    }

    private Definition.ForeignField foreignField() {
        Name name = tokens.name("a field");
        List<String> values = new ArrayList<>();
        while (tokens.at(Kind.STRING) || tokens.at(Kind.IDENTIFIER) || tokens.at(Kind.INTEGER)) {
            values.add(tokens.take().text());
        }
        tokens.semicolon();
        return new Definition.ForeignField(name, List.copyOf(values));
    }
}
