package org.mdlagent.runtime;

import java.util.Map;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.profiler.report.codec.ForeignText;

/// Executes the requests that come to the control socket: one line, the name of a command and its arguments. The answer
/// begins with the line `ok`, and what the command brings follows, or is the one line `error` and why.
final class Control {
    private final Map<String, Command> commands;

    Control(Map<String, Command> commands) {
        this.commands = commands;
    }

    /// Executes the request that waits, if there is one.
    void serve(NativeApi api) {
        String request = api.takeRequest();
        if (request != null) {
            api.renewClocks(); // It may take long, and so may the one before.
            api.answerRequest(answer(request));
        }
    }

    /// Never fails, whatever the request is.
    String answer(String request) {
        String line = request.strip();
        int blank = line.indexOf(' ');
        String name = blank < 0 ? line : line.substring(0, blank);
        Command command = commands.get(name);
        if (command == null) {
            return "error this agent knows no " + ForeignText.printable(name) + "\n";
        }
        try {
            return "ok\n" + command.execute(line.substring(name.length()).strip());
        } catch (RuntimeException e) {
            return "error " + ForeignText.printable(String.valueOf(e.getMessage())) + "\n";
        }
    }
}
