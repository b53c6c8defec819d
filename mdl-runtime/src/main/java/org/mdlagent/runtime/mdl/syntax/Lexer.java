package org.mdlagent.runtime.mdl.syntax;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.mdlagent.runtime.mdl.syntax.Token.Kind;

/// Divides a file into tokens. Reports and skips everything else.
final class Lexer {
    /// Operators; two-character operators come first.
    private static final List<Kind> OPERATORS =
            Arrays.stream(Kind.values()).filter(Kind::isOperator).toList();

    private final String text;
    private final Diagnostics diagnostics;
    private final List<Token> tokens = new ArrayList<>();
    private int at;

    private Lexer(SourceFile file, Diagnostics diagnostics) {
        this.text = file.text();
        this.diagnostics = diagnostics;
    }

    /// All tokens of a file; the last one marks its end.
    static List<Token> read(SourceFile file, Diagnostics diagnostics) {
        return new Lexer(file, diagnostics).read();
    }

    private List<Token> read() {
        while (at < text.length()) {
            char c = text.charAt(at);
            if (Character.isWhitespace(c)) {
                at++;
            } else if (text.startsWith("//", at)) {
                at = endOfLine();
            } else if (c == '"') {
                string();
            } else if (isDigit(c)) {
                number();
            } else if (isLetter(c) || c == '$') {
                identifier();
            } else {
                operator();
            }
        }
        tokens.add(new Token(Kind.END, "", at, at));
        return tokens;
    }

    private void string() {
        int end = endOfLine();
        int quote = text.indexOf('"', at + 1);
        if (quote < 0 || quote > end) {
            diagnostics.error(at, "the string does not end in its line", "close it with '\"'");
            add(Kind.STRING, text.substring(at + 1, end), end);
        } else {
            add(Kind.STRING, text.substring(at + 1, quote), quote + 1);
        }
    }

    private void number() {
        int end = digits(at);
        Kind kind = Kind.INTEGER;
        if (end < text.length() && text.charAt(end) == '.') {
            kind = Kind.DECIMAL;
            int point = end;
            end = digits(point + 1);
            if (end == point + 1) {
                diagnostics.error(end, "expected a digit after the point of a decimal number");
            }
        }
        if (end < text.length() && isLetter(text.charAt(end))) {
            diagnostics.error(end, "expected the end of the number, found '" + text.charAt(end) + "'");
            tokens.add(new Token(kind, text.substring(at, end), at, end));
            at = word(end);
            return;
        }
        add(kind, text.substring(at, end), end);
    }

    private void identifier() {
        boolean dollar = text.charAt(at) == '$';
        int end = word(at + (dollar ? 1 : 0));
        if (dollar && (end == at + 1 || isDigit(text.charAt(at + 1)))) {
            diagnostics.error(at, "expected a name after '$'");
            at = end;
            return;
        }
        add(Kind.IDENTIFIER, text.substring(at, end), end);
    }

    /// Reads an operator. An invalid one is reported once and read as the operator that was probably meant.
    private void operator() {
        for (Kind operator : OPERATORS) {
            if (text.startsWith(operator.spelling(), at)) {
                add(operator, operator.spelling(), at + operator.spelling().length());
                return;
            }
        }
        int c = text.codePointAt(at);
        String shown = Character.isISOControl(c) ? String.format("U+%04X", c) : Character.toString(c);
        String hint = switch (c) {
            case '!' -> "use '!='";
            case '|' -> "use '||'";
            case '\'' -> "write strings in '\"'";
            case '#' -> "a comment begins with '//'";
            default -> null;
        };
        diagnostics.error(at, "'" + shown + "' is not a character of MDL", hint);
        int end = endOfLine();
        int quote = c == '\'' ? text.indexOf('\'', at + 1) : -1;
        if (quote > 0 && quote < end) {
            add(Kind.STRING, text.substring(at + 1, quote), quote + 1);
        } else {
            at = c == '#' ? end : at + Character.charCount(c);
        }
    }

    private void add(Kind kind, String value, int end) {
        tokens.add(new Token(kind, value, at, end));
        at = end;
    }

    private int endOfLine() {
        int end = text.indexOf('\n', at);
        return end < 0 ? text.length() : end;
    }

    private int digits(int from) {
        int end = from;
        while (end < text.length() && isDigit(text.charAt(end))) {
            end++;
        }
        return end;
    }

    private int word(int from) {
        int end = from;
        while (end < text.length() && (isLetter(text.charAt(end)) || isDigit(text.charAt(end)))) {
            end++;
        }
        return end;
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    private static boolean isLetter(char c) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_';
    }
}
