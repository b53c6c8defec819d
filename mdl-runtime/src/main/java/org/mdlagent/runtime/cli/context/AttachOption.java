package org.mdlagent.runtime.cli.context;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import picocli.CommandLine.Option;

/// `--attach`, of commands about a running program.
public final class AttachOption {
    @Option(names = "--attach", description = "If process PID has no agent, attach to it first: mdl attach PID.")
    private boolean attach;

    /// Attaches if that is asked for and the process has no agent.
    ///
    /// @param session what the user named
    /// @return whether it has attached
    public boolean apply(CommandContext mdl, @Nullable String session) throws IOException {
        if (!attach) {
            return false;
        }
        if (session == null || !session.matches("[0-9]{1,9}")) {
            throw CommandFailure.usage("--attach needs the id of a process", "pgrep NAME shows the ids of a program");
        }
        return mdl.attach(Integer.parseInt(session));
    }
}
