package org.mdlagent.runtime.cli.run;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.cli.report.ReportCommand;
import org.mdlagent.runtime.cli.terminal.Console;
import org.mdlagent.runtime.mdl.syntax.Spelling;
import org.mdlagent.runtime.options.FunctionGlob;

/// Reports why there are no figures.
///
/// @param program as given
record Unmeasured(String program, SessionReader reader, Console console) {
    private static final String ENDED = "the agent has ended, the program goes on without it: ";
    private static final String STUCK = "the agent is stuck, ";

    /// The log shows whether the agent failed; otherwise it had not got far enough.
    ///
    /// @param waited whether main was to wait for the probes
    void sayWhy(Path session, boolean waited) throws IOException {
        Path log = session.resolve("agent.log");
        List<String> lines =
                Files.isRegularFile(log) ? Files.readAllLines(log, StandardCharsets.ISO_8859_1) : List.of();
        for (String line : lines) {
            int reason = line.contains(ENDED) ? line.indexOf(ENDED) + ENDED.length() : line.indexOf(STUCK);
            if (reason >= 0) {
                console.say(
                        "nothing was measured: " + line.substring(reason),
                        "docs/troubleshooting.md explains; the log is " + log);
                return;
            }
        }
        console.say(
                "nothing was measured: the program ended before its probes were in place",
                waited ? "the log is " + log : "try: mdl run --wait ...");
    }

    /// Names the patterns that match no function of the program.
    void nameUnknown(String option, List<FunctionGlob> globs) throws IOException {
        if (globs.isEmpty()) {
            return;
        }
        List<FunctionProfile> functions = reader.profile().functions();
        for (FunctionGlob glob : globs) {
            if (functions.stream().noneMatch(function -> ReportCommand.means(glob, function))) {
                Path path = ProgramFile.find(program, System.getenv("PATH"));
                String hint = path == null ? null : Spelling.hint(glob.toString(), ProgramFile.functions(path));
                console.say(
                        option + "=" + glob + ": no function with probes matches",
                        hint != null ? hint : "mdl list functions lists them");
            }
        }
    }
}
