package org.mdlagent.profiler.report.format;

/// Emphasis of a line on a terminal.
///
/// @param colour whether the output supports ANSI sequences; otherwise all text is plain
public record Style(boolean colour) {
    private static final String PLAIN = "\u001b[0m";

    public String bold(String text) {
        return in("\u001b[1m", text);
    }

    public String dim(String text) {
        return in("\u001b[2m", text);
    }

    public String reversed(String text) {
        return in("\u001b[7m", text);
    }

    private String in(String begin, String text) {
        return colour ? begin + text + PLAIN : text;
    }
}
