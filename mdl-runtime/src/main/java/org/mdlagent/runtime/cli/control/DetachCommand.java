package org.mdlagent.runtime.cli.control;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.session.ControlClient;
import org.mdlagent.runtime.cli.session.SessionStore;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `mdl detach`: lets a program that has the agent execute its files' text again.
@Command(
        name = "detach",
        description = "Take the probes out of a running program: it executes its files' code again. mdl attach PID puts"
                + " them back.",
        customSynopsis = "mdl detach PID|SESSION")
public final class DetachCommand implements Callable<Integer> {
    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandContext mdl;

    @Parameters(paramLabel = "PID|SESSION")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String session;

    @Override
    public Integer call() throws IOException {
        Path directory = mdl.store().find(session);
        var unused = ControlClient.ask(directory, "agent detach");
        mdl.console().out().println("no probe is in the program now; session " + SessionStore.name(directory));
        return 0;
    }
}
