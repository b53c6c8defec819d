package org.mdlagent.runtime.cli.report;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.names.DebugNames;
import org.mdlagent.runtime.cli.terminal.Console;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `mdl snapshot`: writes the single calls that a session keeps to a file for Perfetto.
@Command(
        name = "snapshot",
        description =
                "Write the slow calls that a session keeps (mdl collect slow), or else the last sampled calls, as a"
                        + " trace for ui.perfetto.dev. The program goes on. Prints the file's name.",
        customSynopsis = "mdl snapshot [-o FILE] [SESSION]",
        sortOptions = false)
public final class SnapshotCommand implements Callable<Integer> {
    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandContext mdl;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = "Write to FILE; otherwise to SESSION.trace.json in the current directory.")
    private @Nullable Path output;

    @Parameters(
            paramLabel = "SESSION",
            arity = "0..1",
            description = "A directory, a process id, or a prefix of a session's name. Default: the newest.")
    private @Nullable String session;

    @Override
    public Integer call() throws IOException {
        Console console = mdl.console();
        try (SessionReader reader =
                SessionReader.open(mdl.store().findSettled(session, console), DebugNames.fetching(console))) {
            SessionFacts facts = reader.facts();
            ReportFormat.TRACE.checkSession(facts);
            Path file = output != null ? output : Path.of(OpenCommand.fileName(facts.id()) + ".trace.json");
            ReportFormat.TRACE.write(reader, file);
            console.out().println(file);
        }
        return 0;
    }
}
