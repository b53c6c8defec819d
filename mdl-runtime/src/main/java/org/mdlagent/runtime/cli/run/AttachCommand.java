package org.mdlagent.runtime.cli.run;

import java.io.IOException;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.options.AgentOptions;
import org.mdlagent.runtime.options.AgentOptionsText;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

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

    @Option(
            names = {"-o", "--session"},
            paramLabel = "DIR",
            description = "Record into DIR.")
    private @Nullable String session;

    @Mixin
    private MeasureOptions measure = new MeasureOptions();

    @Override
    public Integer call() throws IOException {
        AgentOptionsText text = measure.text();
        MeasureOptions.addIf(session, AgentOptions.SESSION, text);
        return new Attachment(mdl, pid, mdl.console().out()).attach(text);
    }
}
