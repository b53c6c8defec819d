package org.mdlagent.runtime.mdl.syntax;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// An error in a file, or an ignored part of it.
///
/// @param at   offset in the file
/// @param hint what to do about it
public record Diagnostic(
        SourceFile file,
        int at,
        Severity severity,
        String message,
        @Nullable String hint) {
    /// An error drops its definition; an ignored part has no effect.
    public enum Severity {
        ERROR,
        IGNORED
    }

    /// `file:line:column: severity: message`, the source line, a caret, and the hint.
    public String format() {
        String line = file.lineText(at);
        int column = Math.min(file.column(at), line.length() + 1);
        StringBuilder text = new StringBuilder()
                .append(file.name())
                .append(':')
                .append(file.line(at))
                .append(':')
                .append(column)
                .append(": ")
                .append(severity.name().toLowerCase(Locale.ROOT))
                .append(": ")
                .append(message)
                .append("\n  ")
                .append(line)
                .append("\n  ")
                .append(line.substring(0, column - 1).replaceAll("[^\t]", " "))
                .append('^');
        if (hint != null) {
            text.append("\n  ").append(hint);
        }
        return text.toString();
    }
}
