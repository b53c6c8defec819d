package org.mdlagent.profiler.report.format;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.mdlagent.profiler.text.JsonWriter;

/// Shortens names of functions to fit a column. The least informative parts go first: ABI tags, then template
/// arguments, then parameters; a name that is still too long keeps both ends.
public final class ShortName {
    private static final String OPERATOR = "operator";
    private static final String GAP = "…";

    private ShortName() {}

    public static String of(String name, int width) {
        if (columns(name) <= width) {
            return name;
        }
        String shortest = name;
        for (String shorter : shorter(name)) {
            shortest = shorter;
            if (columns(shorter) <= width) {
                return shorter;
            }
        }
        return bothEnds(shortest, width);
    }

    /// Shorter forms of a name, in the order in which they are tried.
    public static List<String> shorter(String name) {
        List<String> forms = new ArrayList<>();
        String shortened = name;
        for (int step = 0; step < 3; step++) {
            String before = shortened;
            shortened = switch (step) {
                case 0 -> withoutTags(shortened);
                case 1 -> collapsed(shortened, '<', '>');
                default -> collapsed(shortened, '(', ')');
            };
            if (!shortened.equals(before)) {
                forms.add(shortened);
            }
        }
        return forms;
    }

    /// Writes the shorter forms for pages, whose script chooses among them as [#of] does; nothing if there
    /// are none.
    public static void write(String name, JsonWriter json) throws IOException {
        List<String> forms = shorter(name);
        if (!forms.isEmpty()) {
            json.beginArray("shorter");
            for (String form : forms) {
                json.element(form);
            }
            json.endArray();
        }
    }

    public static int columns(String text) {
        return text.codePointCount(0, text.length());
    }

    /// Without ABI tags of gcc, `[abi:cxx11]`.
    private static String withoutTags(String name) {
        StringBuilder result = new StringBuilder();
        int from = 0;
        for (int tag = name.indexOf("[abi:"); tag >= 0; tag = name.indexOf("[abi:", from)) {
            int end = name.indexOf(']', tag);
            if (end < 0) {
                break;
            }
            result.append(name, from, tag);
            from = end + 1;
        }
        return result.append(name, from, name.length()).toString();
    }

    /// Without the contents of the outermost pairs of brackets. Brackets of operators do not count, and an
    /// empty pair is kept; if brackets do not match, the name is unchanged.
    private static String collapsed(String name, char open, char close) {
        StringBuilder result = new StringBuilder();
        int depth = 0;
        int start = 0;
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            int operator = operatorLength(name, i);
            if (operator > 0) {
                if (depth == 0) {
                    result.append(name, i, i + operator);
                }
                i += operator - 1;
            } else if (c == open) {
                if (i == 0 && c == '<') {
                    return inFront(name);
                }
                if (depth++ == 0) {
                    start = i;
                }
            } else if (c == close && depth > 0 && (i == 0 || name.charAt(i - 1) != '-')) {
                if (--depth == 0) {
                    result.append(open).append(i > start + 1 ? GAP : "").append(close);
                }
            } else if (depth == 0) {
                result.append(c);
            }
        }
        return depth == 0 ? result.toString() : name;
    }

    /// In Rust's `<Square as Shape>::area`, the brackets name the type: their contents are shortened, not
    /// removed.
    private static String inFront(String name) {
        int depth = 0;
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            depth += c == '<' ? 1 : c == '>' && name.charAt(i - 1) != '-' ? -1 : 0;
            if (depth == 0) {
                String rest = collapsed(name.substring(i + 1), '<', '>');
                return "<" + collapsed(name.substring(1, i), '<', '>') + ">" + rest;
            }
        }
        return name;
    }

    /// Length of `operator<<`, `operator->`, `operator()` and the like if one begins here, else 0.
    private static int operatorLength(String name, int at) {
        if (!name.startsWith(OPERATOR, at)) {
            return 0;
        }
        int symbol = at + OPERATOR.length();
        for (String sign : new String[] {"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "()", "<", ">"}) {
            if (name.startsWith(sign, symbol)) {
                return OPERATOR.length() + sign.length();
            }
        }
        return 0;
    }

    private static String bothEnds(String name, int width) {
        int head = (width - 1) / 2;
        int tail = width - 1 - head;
        return name.substring(0, name.offsetByCodePoints(0, head))
                + GAP
                + name.substring(name.offsetByCodePoints(name.length(), -tail));
    }
}
