package org.mdlagent.runtime.cli.run;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.terminal.Posix;
import org.mdlagent.runtime.options.AgentOptionsText;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/// `mdl run`: runs a program under the agent, transparently for its caller.
@Command(
        name = "run",
        description = "Run a program under the agent. Exit status, stdout and stderr are the program's.",
        customSynopsis = "mdl run [OPTIONS] [--] PROGRAM ARGS...",
        sortOptions = false)
public final class RunCommand implements Callable<Integer> {
    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandContext mdl;

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Parameters(paramLabel = "PROGRAM ARGS...", arity = "1..*", description = "What to run.")
    private List<String> program = List.of();

    /// How many of the last words of the command line are the program's, including its name.
    public int programWords() {
        return program.size();
    }

    @Override
    public Integer call() throws IOException {
        AgentOptionsText commandLine = MeasureOptions.text(spec);
        String name = program.getFirst();
        return new ProgramRun(mdl, name, MeasureOptions.remedy(commandLine, name))
                .run(commandLine, Posix.ownArguments(program.size()));
    }
}
