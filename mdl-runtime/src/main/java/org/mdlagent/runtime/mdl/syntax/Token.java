package org.mdlagent.runtime.mdl.syntax;

/// A token of a file. Keywords are identifiers: their meaning depends on their place.
///
/// @param text its text; for a string, without the quotes
/// @param at   offset of its first character
/// @param end  offset after its last
record Token(Kind kind, String text, int at, int end) {
    enum Kind {
        IDENTIFIER("a name"),
        INTEGER("a number"),
        DECIMAL("a decimal number"),
        STRING("a string"),
        OPEN_CODE("(*"),
        CLOSE_CODE("*)"),
        ADD_ASSIGN("+="),
        SUBTRACT_ASSIGN("-="),
        INCREMENT("++"),
        LESS_EQUAL("<="),
        GREATER_EQUAL(">="),
        EQUAL("=="),
        NOT_EQUAL("!="),
        AND("&&"),
        OR("||"),
        ASSIGN("="),
        PLUS("+"),
        MINUS("-"),
        TIMES("*"),
        SLASH("/"),
        LESS("<"),
        GREATER(">"),
        AMPERSAND("&"),
        DOT("."),
        COMMA(","),
        SEMICOLON(";"),
        OPEN("("),
        CLOSE(")"),
        OPEN_BRACE("{"),
        CLOSE_BRACE("}"),
        OPEN_BRACKET("["),
        CLOSE_BRACKET("]"),
        END("the end of the file");

        private final String spelling;

        Kind(String spelling) {
            this.spelling = spelling;
        }

        /// Text of an operator.
        String spelling() {
            return spelling;
        }

        boolean isOperator() {
            return compareTo(STRING) > 0 && this != END;
        }

        /// Name in messages.
        String description() {
            return isOperator() ? "'" + spelling + "'" : spelling;
        }
    }

    boolean is(String word) {
        return kind == Kind.IDENTIFIER && text.equals(word);
    }

    /// Name in messages.
    String description() {
        return switch (kind) {
            case IDENTIFIER, INTEGER, DECIMAL -> "'" + text + "'";
            case STRING -> "the string \"" + text + "\"";
            default -> kind.description();
        };
    }
}
