package org.mdlagent.profiler.report.format;

/// Makes the names of functions fit into a column. What says least goes first: ABI tags, then what stands between the
/// brackets of templates, then parameters; what is still too long keeps both ends.
public final class ShortName {
    private static final String OPERATOR = "operator";
    private static final String GAP = "…";

    private ShortName() {}

    public static String of(String name, int width) {
        String shortened = name;
        for (int step = 0; step < 3 && columns(shortened) > width; step++) {
            shortened = switch (step) {
                case 0 -> withoutTags(shortened);
                case 1 -> collapsed(shortened, '<', '>');
                default -> collapsed(shortened, '(', ')');
            };
        }
        return columns(shortened) <= width ? shortened : bothEnds(shortened, width);
    }

    public static int columns(String text) {
        return text.codePointCount(0, text.length());
    }

    /// Without the tags of gcc, `[abi:cxx11]`.
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

    /// With the contents of the outermost pairs of brackets left out. The brackets of operators are none, and an
    /// empty pair stays as it is; where brackets do not pair, the name stays whole.
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
                if (depth++ == 0) {
                    start = i;
                }
            } else if (c == close && depth > 0) {
                if (--depth == 0) {
                    result.append(open).append(i > start + 1 ? GAP : "").append(close);
                }
            } else if (depth == 0) {
                result.append(c);
            }
        }
        return depth == 0 ? result.toString() : name;
    }

    /// Length of `operator<<`, `operator->`, `operator()` and their like, when one begins here, else 0.
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
