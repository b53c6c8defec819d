package org.mdlagent.runtime.agent;

import java.util.LinkedHashMap;
import java.util.Map;

/// Reads one JSON object (RFC 8259) whose values are texts, whole numbers, true or false. Values that nest are
/// refused, so input of any length needs no stack.
final class FlatJson {
    private static final int DIGITS_MAX = 18;
    private static final int HEX = 16;
    private static final int ESCAPE_DIGITS = 4;
    private static final String ESCAPES = "\"\\/bfnrt";
    private static final String ESCAPED = "\"\\/\b\f\n\r\t";

    private final String text;
    private int at;

    private FlatJson(String text) {
        this.text = text;
    }

    /// The members in their order: each a `String`, `Long` or `Boolean`.
    ///
    /// @throws IllegalArgumentException if the text is anything else
    static Map<String, Object> read(String text) {
        return new FlatJson(text).object();
    }

    private Map<String, Object> object() {
        Map<String, Object> members = new LinkedHashMap<>();
        expect('{');
        if (!skips('}')) {
            do {
                String name = string();
                expect(':');
                if (members.put(name, value()) != null) {
                    throw wrong("two members have the name " + name);
                }
            } while (skips(','));
            expect('}');
        }
        skipBlanks();
        if (at < text.length()) {
            throw wrong("text follows the object");
        }
        return members;
    }

    private Object value() {
        char first = next();
        if (first == '"') {
            return string();
        }
        if (first == '{' || first == '[') {
            throw wrong("a value nests");
        }
        int start = at;
        while (at < text.length() && ",} \t".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        String word = text.substring(start, at);
        return switch (word) {
            case "true" -> true;
            case "false" -> false;
            default -> number(word);
        };
    }

    private Long number(String word) {
        if (word.length() > DIGITS_MAX || !word.matches("-?(0|[1-9][0-9]*)")) {
            throw wrong("a value is no text, no whole number, neither true nor false");
        }
        return Long.valueOf(word);
    }

    private String string() {
        expect('"');
        StringBuilder string = new StringBuilder();
        while (at < text.length()) {
            char c = text.charAt(at++);
            if (c == '"') {
                return string.toString();
            }
            if (c < ' ') {
                throw wrong("a text has a control character");
            }
            string.append(c == '\\' ? escaped() : c);
        }
        throw wrong("a text does not end");
    }

    private char escaped() {
        char c = at < text.length() ? text.charAt(at++) : 0;
        int known = ESCAPES.indexOf(c);
        if (c != 0 && known >= 0) {
            return ESCAPED.charAt(known);
        }
        int end = at + ESCAPE_DIGITS;
        if (c != 'u' || end > text.length()) {
            throw wrong("a text has an unknown escape");
        }
        int code = 0;
        while (at < end) {
            int digit = Character.digit(text.charAt(at++), HEX);
            if (digit < 0) {
                throw wrong("a text has an unknown escape");
            }
            code = code * HEX + digit;
        }
        return (char) code;
    }

    private void skipBlanks() {
        while (at < text.length() && " \t\r".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    /// The next character that is not blank, which is not taken; 0 also at the end.
    private char next() {
        skipBlanks();
        return at < text.length() ? text.charAt(at) : 0;
    }

    private boolean skips(char wanted) {
        if (next() != wanted) {
            return false;
        }
        at++;
        return true;
    }

    private void expect(char wanted) {
        if (!skips(wanted)) {
            throw wrong(wanted + " is missing");
        }
    }

    private IllegalArgumentException wrong(String what) {
        return new IllegalArgumentException(
                "the request is not a JSON object that mdl reads: " + what + ", before character " + (at + 1));
    }
}
