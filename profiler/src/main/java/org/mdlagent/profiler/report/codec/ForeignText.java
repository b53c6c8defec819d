package org.mdlagent.profiler.report.codec;

/// Text that somebody else has written: names of functions, files and threads, definitions of metrics, messages of a
/// program. It must not control what shows it: terminals obey C0 and C1 controls, and bidirectional controls (Unicode
/// Standard Annex 9) make a line read as another one.
public final class ForeignText {
    private ForeignText() {}

    /// The text with a question mark in place of each character that [#isPrintable] refuses.
    public static String printable(String text) {
        if (text.codePoints().allMatch(ForeignText::isPrintable)) {
            return text;
        }
        StringBuilder printable = new StringBuilder(text.length());
        text.codePoints().forEach(c -> printable.appendCodePoint(isPrintable(c) ? c : '?'));
        return printable.toString();
    }

    /// The same for text of several lines, whose ends and tabs stay.
    public static String printableLines(String text) {
        StringBuilder printable = new StringBuilder(text.length());
        text.codePoints().forEach(c -> printable.appendCodePoint(c == '\n' || c == '\t' || isPrintable(c) ? c : '?'));
        return printable.toString();
    }

    /// Whether a character is shown as itself, and changes nothing around it.
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
