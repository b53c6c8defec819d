package org.mdlagent.runtime.cli.control;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.session.ControlClient;
import org.mdlagent.runtime.metric.MetricRequest;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `mdl disable`: stops measuring metrics in a running program.
@Command(
        name = "disable",
        description = "Stop measuring metrics in a running program.",
        customSynopsis = "mdl disable PID|SESSION METRIC[@FOCUS...]...")
public final class DisableCommand implements Callable<Integer> {
    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandContext mdl;

    @Parameters(index = "0", paramLabel = "PID|SESSION")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String session;

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "METRIC[@FOCUS...]",
            description = "As enabled; a pattern with * or ? selects all matches.")
    private List<String> requests = List.of();

    @Override
    public Integer call() throws IOException {
        List<MetricRequest> wanted = EnableCommand.requests(requests);
        Path directory = mdl.store().find(session);
        for (MetricRequest request : wanted) {
            String count =
                    ControlClient.ask(directory, "metric disable " + request).strip();
            mdl.console()
                    .out()
                    .println(request.metric() + " @ " + request.focus() + ": off"
                            + (count.equals("1") ? "" : ", " + count + " metrics"));
        }
        return 0;
    }
}
