package org.mdlagent.runtime.mdl.syntax;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.mdlagent.runtime.mdl.syntax.Definition.ItemType;
import org.mdlagent.runtime.mdl.syntax.Token.Kind;

/// Parses lists of all three forms.
final class ListParser {
    private static final Set<String> FIELDS = Set.of("items", "flavor", "library");

    private final TokenStream tokens;
    private final MetricParser metrics;

    ListParser(TokenStream tokens, MetricParser metrics) {
        this.tokens = tokens;
        this.metrics = metrics;
    }

    /// Parses `list NAME is TYPE { field... }`, which Paradyn calls `resourceList`, or the form with parentheses.
    Definition list() {
        Token word = tokens.take();
        if (word.is("resourceList") && tokens.at(Kind.OPEN)) {
            return inParentheses(word.at());
        }
        Name name = tokens.name("the list's name");
        tokens.expectWord("is");
        ItemType type = itemType();
        tokens.expect(Kind.OPEN_BRACE);
        Set<String> seen = new HashSet<>();
        List<Name> items = List.of();
        List<Name> flavors = List.of();
        boolean library = false;
        while (!tokens.at(Kind.CLOSE_BRACE) && !tokens.atBoundary()) {
            TokenStream.Mark mark = tokens.mark();
            try {
                switch (field(seen)) {
                    case "items" -> items = items(type, true);
                    case "flavor" -> flavors = metrics.flavors();
                    default -> library = library();
                }
            } catch (SyntaxError e) {
                tokens.recover(mark, FIELDS);
            }
        }
        tokens.close("list " + name, word.at());
        if (!seen.contains("items")) {
            throw tokens.error(word.at(), "list " + name + " has no items", "write 'items { ... };'");
        }
        return new Definition.Items(name, type, items, flavors, library, word.at());
    }

    /// The field that begins here. Does not consume `items`, `flavor` or `library`.
    private String field(Set<String> seen) {
        if (!tokens.atWord(FIELDS)) {
            throw tokens.expected("a field of a list (items, flavor or library)", FIELDS);
        }
        Token field = tokens.peek();
        if (!seen.add(field.text())) {
            throw tokens.error(field.at(), "the list has its " + field.text() + " already", null);
        }
        return field.text();
    }

    private ItemType itemType() {
        for (ItemType type : ItemType.values()) {
            if (tokens.acceptWord(type.word())) {
                return type;
            }
        }
        throw tokens.expected(
                "the type of a list's items",
                Arrays.stream(ItemType.values()).map(ItemType::word).toList());
    }

    private List<Name> items(ItemType type, boolean field) {
        if (field) {
            tokens.expectWord("items");
            tokens.accept(Kind.ASSIGN);
        }
        tokens.expect(Kind.OPEN_BRACE);
        List<Name> items = new ArrayList<>();
        do {
            items.add(item(type));
        } while (tokens.accept(Kind.COMMA));
        tokens.expect(Kind.CLOSE_BRACE, "',' or '}'");
        if (field) {
            tokens.semicolon();
        }
        return List.copyOf(items);
    }

    /// An item: a string or a number.
    private Name item(ItemType type) {
        boolean negative = (type == ItemType.INTEGER || type == ItemType.FLOAT) && tokens.accept(Kind.MINUS);
        Token token = tokens.peek();
        boolean fits = switch (type) {
            case INTEGER -> token.kind() == Kind.STRING || token.kind() == Kind.INTEGER;
            case FLOAT -> token.kind() == Kind.STRING || token.kind() == Kind.INTEGER || token.kind() == Kind.DECIMAL;
            default -> token.kind() == Kind.STRING;
        };
        if (!fits) {
            throw tokens.expected(
                    switch (type) {
                        case INTEGER -> "a whole number";
                        case FLOAT -> "a number";
                        default -> "a string";
                    });
        }
        tokens.take();
        Name item = new Name((negative ? "-" : "") + token.text(), token.at());
        checkNumber(type, item);
        return item;
    }

    private void checkNumber(ItemType type, Name item) {
        try {
            if (type == ItemType.INTEGER) {
                Long.parseLong(item.text());
            } else if (type == ItemType.FLOAT) {
                Double.parseDouble(item.text());
            }
        } catch (NumberFormatException e) {
            throw tokens.error(item.at(), "'" + item + "' is not a 64-bit number", null);
        }
    }

    private boolean library() {
        tokens.expectWord("library");
        boolean library = truth();
        tokens.semicolon();
        return library;
    }

    private boolean truth() {
        Token token = tokens.peek();
        String word = token.kind() == Kind.IDENTIFIER ? token.text().toLowerCase(Locale.ROOT) : "";
        if (!word.equals("true") && !word.equals("false")) {
            throw tokens.expected("'true' or 'false'", List.of("true", "false"));
        }
        tokens.take();
        return word.equals("true");
    }

    /// Parses `(TYPE, "NAME", { items }, library, flavor);`.
    private Definition inParentheses(int at) {
        tokens.expect(Kind.OPEN);
        ItemType type = itemType();
        tokens.expect(Kind.COMMA);
        Token name = tokens.expect(Kind.STRING, "the list's name as a string");
        tokens.expect(Kind.COMMA);
        List<Name> items = items(type, false);
        tokens.expect(Kind.COMMA);
        boolean library = truth();
        List<Name> flavors = new ArrayList<>();
        while (tokens.accept(Kind.COMMA)) {
            flavors.add(tokens.name("a flavor"));
        }
        tokens.expect(Kind.CLOSE, "',' or ')'");
        tokens.semicolon();
        return new Definition.Items(new Name(name.text(), name.at()), type, items, List.copyOf(flavors), library, at);
    }
}
