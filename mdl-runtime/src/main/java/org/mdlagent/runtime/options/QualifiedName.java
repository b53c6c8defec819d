package org.mdlagent.runtime.options;

/// A demangled C++ or Rust name and its short forms: `parse`, `Parser::parse` and `Parser::parse(int)` all name
/// `bool ns::Parser<char>::parse<A>(int) const`, and `area` and `Square::area` name `<app::Square as
/// app::Shape>::area`.
///
/// Uses no regular expressions or lambdas, because the agent runs it at program start.
final class QualifiedName {
    private static final String OPERATOR = "operator";

    private final String name;
    private final String path;
    private final String plain;

    /// @param name  from its first qualifier on, with its parameters
    /// @param path  without parameters
    /// @param plain also without template arguments and the trait of `<T as Trait>`
    private QualifiedName(String name, String path, String plain) {
        this.name = name;
        this.path = path;
        this.plain = plain;
    }

    static QualifiedName of(String name) {
        int parameters = parameters(name);
        String path = parameters > 0 ? name.substring(0, parameters) : name;
        int start = start(path);
        String own = path.substring(start);
        return new QualifiedName(name.substring(start), own, plain(own));
    }

    /// Whether a pattern matches it: with or without arguments, from any of its qualifiers on.
    boolean matches(String pattern) {
        return endMatches(pattern, name) || endMatches(pattern, path) || endMatches(pattern, plain);
    }

    private static boolean endMatches(String pattern, String text) {
        for (int from = 0; from >= 0; from = nextPart(text, from)) {
            if (FunctionGlob.matches(pattern, text.substring(from))) {
                return true;
            }
        }
        return false;
    }

    /// Start of the part after the next `::` outside brackets, or -1.
    private static int nextPart(String text, int from) {
        for (int i = from; i < text.length(); i = next(text, i)) {
            if (text.startsWith("::", i)) {
                return i + 2;
            }
        }
        return -1;
    }

    /// Start of the parameter list, or -1: the parenthesis that the last one closes, followed by nothing but
    /// qualifiers such as `const`.
    static int parameters(String name) {
        int close = name.lastIndexOf(')');
        if (close < 0 || name.indexOf('>', close) > 0 || name.indexOf(':', close) > 0 || name.indexOf('}', close) > 0) {
            return -1;
        }
        int depth = 0;
        for (int i = close; i >= 0; i--) {
            char c = name.charAt(i);
            depth += c == ')' ? 1 : c == '(' ? -1 : 0;
            if (depth == 0) {
                return i;
            }
        }
        return -1;
    }

    /// Start of the name, after a template's return type.
    private static int start(String path) {
        int start = 0;
        for (int i = 0; i < path.length(); i = next(path, i)) {
            if (isOperator(path, i)) {
                return start;
            }
            if (path.charAt(i) == ' ') {
                start = i + 1;
            }
        }
        return start;
    }

    private static boolean isOperator(String path, int at) {
        int end = at + OPERATOR.length();
        return path.startsWith(OPERATOR, at)
                && (at == 0 || path.charAt(at - 1) == ':' || path.charAt(at - 1) == ' ')
                && (end == path.length() || !Character.isJavaIdentifierPart(path.charAt(end)));
    }

    private static String plain(String path) {
        StringBuilder result = new StringBuilder();
        for (int i = 0; i < path.length(); i = next(path, i)) {
            if (isOperator(path, i)) {
                return result.append(withoutArguments(path.substring(i))).toString();
            }
            if (path.charAt(i) != '<') {
                result.append(path, i, next(path, i));
            } else if (i == 0) {
                String type = path.substring(1, Math.max(1, next(path, i) - 1));
                int as = type.indexOf(" as ");
                result.append(plain(as < 0 ? type : type.substring(0, as)));
            } else if (result.length() > 2 && path.startsWith("::", i - 2)) {
                result.setLength(result.length() - 2); // Rust's `f::<u8>`.
            }
        }
        return result.toString();
    }

    /// Removes `<int>` from `operator()<int>` and `operator<< <int>`.
    private static String withoutArguments(String operator) {
        int arguments = operator.startsWith("operator()") ? "operator()".length() : operator.indexOf(" <");
        return arguments > 0 ? operator.substring(0, arguments) : operator;
    }

    /// Position after a character or a bracketed part; the end if a bracket is not closed.
    private static int next(String text, int at) {
        int depth = 0;
        for (int i = at; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '<' || c == '(' || c == '{' || c == '[') {
                depth++;
            } else if (c == ')' || c == '}' || c == ']' || c == '>' && (i == 0 || text.charAt(i - 1) != '-')) {
                depth--;
            }
            if (depth <= 0) {
                return i + 1;
            }
        }
        return text.length();
    }
}
