package org.mdlagent.runtime.mdl;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.mdl.syntax.Definition.ItemType;

/// Type of an expression evaluated at request time.
record WhereType(Kind kind, boolean list) {
    static final WhereType ANY = new WhereType(Kind.ANY, false);
    static final WhereType NUMBER = new WhereType(Kind.NUMBER, false);
    static final WhereType DECIMAL = new WhereType(Kind.DECIMAL, false);
    static final WhereType STRING = new WhereType(Kind.STRING, false);
    static final WhereType TRUTH = new WhereType(Kind.TRUTH, false);
    static final WhereType PROCEDURE = new WhereType(Kind.PROCEDURE, false);
    static final WhereType RESOURCE = new WhereType(Kind.RESOURCE, false);

    enum Kind {
        PROCEDURE("entry", "return", "calls", "name", "tid"),
        MODULE("funcs", "name"),
        /// A module or procedure that a constraint selects, decided by its use.
        RESOURCE("entry", "return", "calls", "name", "tid", "funcs"),
        ENTRY,
        RETURN,
        CALL("name"),
        NUMBER,
        DECIMAL,
        STRING,
        TRUTH,
        /// The type of a reported error: matches everything.
        ANY;

        private final List<String> attributes;

        Kind(String... attributes) {
            this.attributes = List.of(attributes);
        }

        List<String> attributes() {
            return attributes;
        }

        private String description() {
            return switch (this) {
                case ENTRY, RETURN -> name().toLowerCase(Locale.ROOT) + " point";
                case CALL -> "call";
                case RESOURCE -> "resource of /Code";
                case TRUTH -> "truth value";
                default -> name().toLowerCase(Locale.ROOT);
            };
        }
    }

    static WhereType listOf(Kind kind) {
        return new WhereType(kind, true);
    }

    static WhereType of(ItemType type) {
        return listOf(
                switch (type) {
                    case PROCEDURE -> Kind.PROCEDURE;
                    case MODULE -> Kind.MODULE;
                    case STRING -> Kind.STRING;
                    case INTEGER -> Kind.NUMBER;
                    case FLOAT -> Kind.DECIMAL;
                });
    }

    /// Type of an attribute, or null.
    @Nullable
    WhereType attribute(String name) {
        if (kind == Kind.ANY) {
            return ANY;
        }
        if (list || !kind.attributes.contains(name)) {
            return null;
        }
        return switch (name) {
            case "entry" -> new WhereType(Kind.ENTRY, false);
            case "return" -> new WhereType(Kind.RETURN, false);
            case "calls" -> listOf(Kind.CALL);
            case "funcs" -> listOf(Kind.PROCEDURE);
            case "tid" -> NUMBER;
            default -> STRING;
        };
    }

    /// Type of the elements, or null. A point is a list of one, because functions may have several returns.
    @Nullable
    WhereType element() {
        return list || isPoint() ? new WhereType(kind, false) : null;
    }

    /// Whether it is a point, or a list of points.
    boolean isPoint() {
        return kind == Kind.ENTRY || kind == Kind.RETURN || kind == Kind.CALL || kind == Kind.ANY;
    }

    boolean isNumber() {
        return !list && (kind == Kind.NUMBER || kind == Kind.DECIMAL || kind == Kind.TRUTH || kind == Kind.ANY);
    }

    boolean isString() {
        return !list && (kind == Kind.STRING || kind == Kind.ANY);
    }

    /// Name in messages.
    @Override
    public String toString() {
        String name = kind.description();
        if (list) {
            return "a list of " + name + "s";
        }
        return (name.startsWith("entry") ? "an " : "a ") + name;
    }
}
