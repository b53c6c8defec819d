package org.mdlagent.runtime.cli.context;

import org.mdlagent.runtime.cli.session.SessionStore;
import org.mdlagent.runtime.cli.terminal.Console;

/// What every command is given. Commands know `mdl`, their parent, as this only.
public interface CommandContext {
    Console console();

    SessionStore store();

    Installation installation();
}
