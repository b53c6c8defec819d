package org.mdlagent.profiler.report;

/// How a line stands out on a terminal.
///
/// @param colour whether the output understands ANSI sequences; else all text is plain
record Style(boolean colour) {
    private static final String PLAIN = "\u001b[0m";

    String bold(String text) {
        return in("\u001b[1m", text);
    }

    String dim(String text) {
        return in("\u001b[2m", text);
    }

    String reversed(String text) {
        return in("\u001b[7m", text);
    }

    private String in(String begin, String text) {
        return colour ? begin + text + PLAIN : text;
    }
}
