package org.mdlagent.profiler.text;

/// Untrusted text: names of functions, files and threads, definitions of metrics, messages of a program. It
/// must not control the terminal or page that shows it: terminals obey C0 and C1 controls, and bidirectional
/// controls (Unicode Standard Annex 9) reorder a line.
public final class ForeignText {
    private ForeignText() {}

    /// The text with each character that [#isPrintable] refuses replaced by a question mark.
    public static String printable(String text) {
        if (text.codePoints().allMatch(ForeignText::isPrintable)) {
            return text;
        }
        StringBuilder printable = new StringBuilder(text.length());
        text.codePoints().forEach(c -> printable.appendCodePoint(isPrintable(c) ? c : '?'));
        return printable.toString();
    }

    /// As [#printable], for text of several lines: line ends and tabs stay.
    public static String printableLines(String text) {
        StringBuilder printable = new StringBuilder(text.length());
        text.codePoints().forEach(c -> printable.appendCodePoint(c == '\n' || c == '\t' || isPrintable(c) ? c : '?'));
        return printable.toString();
    }

    /// Whether a character is shown as itself and does not affect its neighbours.
    public static boolean isPrintable(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.UNASSIGNED -> false;
            default -> true;
        };
    }
}
