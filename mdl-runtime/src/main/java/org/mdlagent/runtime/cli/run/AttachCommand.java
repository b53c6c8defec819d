package org.mdlagent.runtime.cli.run;

import java.io.IOException;
import java.util.concurrent.Callable;
import org.mdlagent.runtime.cli.context.CommandContext;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/// `mdl attach`: brings the agent into a process that was started without it.
@Command(
        name = "attach",
        description = "Bring the agent into a running program. mdl detach takes its probes out again.",
        customSynopsis = "mdl attach [OPTIONS] PID",
        sortOptions = false)
public final class AttachCommand implements Callable<Integer> {
    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandContext mdl;

    @Parameters(
            paramLabel = "PID",
            description = "The process, which is not this user's only with the right to trace it.")
    private int pid;

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        return new Attachment(mdl, pid, mdl.console().out()).attach(MeasureOptions.text(spec));
    }
}
