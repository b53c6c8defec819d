package org.mdlagent.runtime.cli.context;

import org.mdlagent.runtime.cli.session.SessionStore;
import org.mdlagent.runtime.cli.terminal.Console;

/// The context of every command. Commands know their parent, `mdl`, only through this interface.
public interface CommandContext {
    Console console();

    SessionStore store();

    Installation installation();
}
