package org.mdlagent.runtime.cli.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.cli.report.ReportFormat;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Console;

/// The report that `mdl run` prints at the end.
///
/// @param file null for stderr
record RunReport(ReportFormat format, @Nullable Path file) {
    /// Parses `FORMAT` or `FORMAT:FILE`. Refuses, before the program runs, what could not be written after
    /// its end.
    static @Nullable RunReport of(@Nullable String text) {
        if (text == null) {
            return null;
        }
        int colon = text.indexOf(':');
        if (colon < 0) {
            return new RunReport(ReportFormat.of(text), null);
        }
        ReportFormat format = ReportFormat.of(text.substring(0, colon));
        Path file = Path.of(text.substring(colon + 1)).toAbsolutePath();
        if (Files.isDirectory(file) || text.endsWith(":")) {
            throw CommandFailure.usage("--report=" + text + " names no file", "try: --report=html:profile.html");
        }
        if (!Files.isWritable(Files.exists(file) ? file : file.getParent())) {
            throw CommandFailure.usage("--report=" + text + ": " + file + " cannot be written", "choose another file");
        }
        return new RunReport(format, file);
    }

    void write(SessionReader reader, Console console) throws IOException {
        if (file == null) {
            boolean terminal = console.errIsTerminal();
            format.write(reader, console.err(), console.colour(terminal), console.width(terminal, 2));
        } else {
            format.write(reader, file);
            console.say(format.lowerCase() + " report: " + file, null);
        }
    }
}
