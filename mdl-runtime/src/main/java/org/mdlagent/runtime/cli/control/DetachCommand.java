package org.mdlagent.runtime.cli.control;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.session.ControlClient;
import org.mdlagent.runtime.cli.session.SessionStore;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `mdl detach`: lets a program that has the agent execute its files' text again.
///
/// With `--for-good` the agent's threads end, and the session with them.
@Command(
        name = "detach",
        description = "Take the probes out of a running program: it executes its files' code again. mdl attach PID puts"
                + " them back.",
        customSynopsis = "mdl detach [--for-good] PID|SESSION")
public final class DetachCommand implements Callable<Integer> {
    private static final long POLL_NANOS = 5_000_000;

    /// The agent gives up after 30 s.
    private static final long LEFT_NANOS = 35_000_000_000L;

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandContext mdl;

    @Parameters(paramLabel = "PID|SESSION")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String session;

    @Option(
            names = "--for-good",
            description = "End the agent's threads, too. The session ends; the program cannot be attached to again.")
    private boolean forGood;

    @Override
    public Integer call() throws IOException {
        Path directory = mdl.store().find(session);
        String name = SessionStore.name(directory);
        var unused = ControlClient.ask(directory, forGood ? "agent leave" : "agent detach");
        if (forGood) {
            awaitEnd(directory);
            mdl.console()
                    .out()
                    .println("no probe and no thread of the agent is in the program now; ended session " + name);
        } else {
            mdl.console().out().println("no probe is in the program now; session " + name);
        }
        return 0;
    }

    private static void awaitEnd(Path session) throws IOException {
        long end = System.nanoTime() + LEFT_NANOS;
        while (System.nanoTime() - end < 0) {
            try (SessionReader reader = SessionReader.open(session)) {
                if (reader.facts().state() == SessionFacts.State.ENDED) {
                    return;
                }
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
        throw CommandFailure.failed(
                "the agent's probes are off, but some of its threads have not ended", "agent.log says more");
    }
}
