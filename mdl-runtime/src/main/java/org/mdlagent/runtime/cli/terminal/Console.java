package org.mdlagent.runtime.cli.terminal;

import java.io.BufferedWriter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintStream;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.text.ForeignText;

/// The output of a command: results to stdout, messages for people to stderr, both in UTF-8 regardless of the
/// locale.
public record Console(PrintStream out, PrintStream err, boolean outIsTerminal, boolean errIsTerminal) {
    public static Console ofProcess() {
        return new Console(
                stream(FileDescriptor.out), stream(FileDescriptor.err), Posix.isTerminal(1), Posix.isTerminal(2));
    }

    private static PrintStream stream(FileDescriptor descriptor) {
        return new PrintStream(new FileOutputStream(descriptor), true, StandardCharsets.UTF_8);
    }

    /// A writer for a stream that is not ours: to be flushed, not closed.
    public static Writer text(OutputStream out) {
        return new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8));
    }

    /// Prints what is wrong, and the remedy on a second line. Both may quote untrusted text.
    public void say(String message, @Nullable String remedy) {
        err.println("mdl: " + ForeignText.printableLines(message));
        if (remedy != null) {
            err.println("     " + ForeignText.printableLines(remedy));
        }
    }

    /// Whether colours may be used on a stream: only on a terminal that supports them, and unless `NO_COLOR`
    /// is set.
    public boolean colour(boolean terminal) {
        String noColour = System.getenv("NO_COLOR");
        return terminal && (noColour == null || noColour.isEmpty()) && !"dumb".equals(System.getenv("TERM"));
    }

    /// Columns of the terminal on stdout (or stderr), 0 if it is not a terminal.
    public int width(boolean terminal, int descriptor) {
        return terminal ? Posix.columns(descriptor) : 0;
    }
}
