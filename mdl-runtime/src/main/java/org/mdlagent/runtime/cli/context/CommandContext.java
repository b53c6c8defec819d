package org.mdlagent.runtime.cli.context;

import java.io.IOException;
import org.mdlagent.runtime.cli.session.SessionStore;
import org.mdlagent.runtime.cli.terminal.Console;

/// The context of every command. Commands know their parent, `mdl`, only through this interface.
public interface CommandContext {
    Console console();

    SessionStore store();

    Installation installation();

    /// Brings the agent into a process, with the default options, as `mdl attach PID` does, unless it is there.
    ///
    /// @return whether it was not
    boolean attach(int pid) throws IOException;
}
