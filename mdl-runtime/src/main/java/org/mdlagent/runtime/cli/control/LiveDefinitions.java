package org.mdlagent.runtime.cli.control;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.mdlagent.profiler.text.ForeignText;
import org.mdlagent.runtime.cli.session.ControlClient;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Console;
import org.mdlagent.runtime.mdl.Compilation;
import org.mdlagent.runtime.mdl.Definitions;
import org.mdlagent.runtime.mdl.MetricLibrary;
import org.mdlagent.runtime.mdl.OneLiner;
import org.mdlagent.runtime.mdl.syntax.DefinitionLines;
import org.mdlagent.runtime.mdl.syntax.Diagnostic;
import org.mdlagent.runtime.mdl.syntax.SourceFile;
import org.mdlagent.runtime.options.RegularFile;

/// The user's own metrics for a running program: checked here, then sent to its agent one definition at a
/// time.
final class LiveDefinitions {
    /// Maximum bytes of a definition; the control socket accepts requests of 4096 bytes.
    private static final int DEFINITION_MAX = 4_000;

    private final Console console;
    private final List<String> lines = new ArrayList<>();
    private final List<String> metrics = new ArrayList<>();
    private Definitions known = MetricLibrary.load();

    LiveDefinitions(Console console) {
        this.console = console;
    }

    /// Reads a file.
    ///
    /// @throws CommandFailure when it has errors, which are printed
    void addFile(Path file) throws IOException {
        add(new SourceFile(file.toString(), RegularFile.text(file)), "mdl compile " + file + " shows them again");
    }

    /// Reads a one-line question.
    ///
    /// @return the metric's name
    /// @throws CommandFailure when it has errors, which are printed
    String addQuestion(String question) {
        OneLiner read = question(question);
        add(new SourceFile(read.name(), read.mdl()), "mdl compile -e '" + question + "' shows what it stands for");
        return read.name();
    }

    /// @throws CommandFailure when it is not a question
    static OneLiner question(String text) {
        try {
            return OneLiner.of(text);
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage(
                    String.valueOf(e.getMessage()), "as in -e 'counter at entry of handle* when $arg[0] > 4096'");
        }
    }

    private void add(SourceFile source, String remedy) {
        Compilation compilation = Compilation.of(source, known);
        for (Diagnostic diagnostic : compilation.diagnostics()) {
            console.err().println(ForeignText.printableLines(diagnostic.format()));
        }
        if (!compilation.isCorrect()) {
            throw CommandFailure.usage(source.name() + " has errors", remedy);
        }
        for (String line : DefinitionLines.of(compilation.tree())) {
            int bytes = line.getBytes(StandardCharsets.UTF_8).length;
            if (bytes > DEFINITION_MAX) {
                throw CommandFailure.failed(
                        source.name() + " has a definition of " + bytes + " bytes; a running program takes "
                                + DEFINITION_MAX,
                        "divide it, or start the program with mdl run --mdl " + source.name());
            }
            lines.add(line);
        }
        metrics.addAll(compilation.definitions().metrics().keySet());
        known = known.with(compilation.definitions());
    }

    /// Names of the metrics read.
    List<String> metrics() {
        return metrics;
    }

    /// Sends them to the agent of a session.
    void send(Path session) throws IOException {
        for (String line : lines) {
            String unused = ControlClient.ask(session, "metric define " + line);
        }
    }
}
