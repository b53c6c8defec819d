package org.mdlagent.runtime.agent;

import java.util.Map;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.profiler.text.ForeignText;

/// Executes requests from the control socket: one line with the name of a command and its arguments. The answer is
/// the line `ok`, followed by the result, or one line with `error` and the reason. A line that begins with a brace is
/// a [JsonRequest], which is answered in JSON.
final class Control {
    private final Map<String, Command> commands;

    Control(Map<String, Command> commands) {
        this.commands = commands;
    }

    /// Executes the pending request, if any.
    void serve(NativeApi api) {
        String request = api.takeRequest();
        if (request != null) {
            api.renewClocks(); // this request, or the previous one, may take long
            api.answerRequest(answer(request));
        }
    }

    /// Never throws, whatever the request.
    String answer(String request) {
        String line = request.strip();
        if (JsonRequest.is(line)) {
            return JsonRequest.answer(line, commands);
        }
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
