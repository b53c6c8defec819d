package org.mdlagent.client;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.figures.Collected;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.cli.context.Installation;
import org.mdlagent.runtime.cli.names.DebugNames;
import org.mdlagent.runtime.cli.session.ControlClient;
import org.mdlagent.runtime.cli.session.ProgramState;
import org.mdlagent.runtime.cli.session.SessionStore;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Console;

/// A program that is measured. Closing it ends a program that was run, and detaches from one that was attached to.
public final class Program implements AutoCloseable {
    /// What [#waitFor] returns if the status is not known.
    public static final int UNKNOWN_STATUS = -1;

    private static final long POLL_NANOS = 5_000_000;

    /// Probes of a hundred thousand functions on a loaded machine take some of it.
    private static final long READY_NANOS = 120_000_000_000L;

    /// After SIGTERM, a program gets SIGKILL.
    private static final long TERM_SECONDS = 10;

    private static final Console CONSOLE = Console.ofProcess();

    private final Thread atExit = new Thread(this::release, "mdl-close");
    private final SessionStore store = SessionStore.ofUser(System.getenv(), CONSOLE);

    /// `mdl` runs the program and ends with it; null if the program was attached to.
    private final @Nullable Process runner;

    private final Path directory;
    private final boolean isTemporary;
    private final boolean detaches;
    private boolean closed;

    /// @param directory   of the session, or one that holds it
    /// @param isTemporary whether it is removed in the end
    /// @param detaches    whether the agent is detached in the end
    private Program(@Nullable Process runner, Path directory, boolean isTemporary, boolean detaches) {
        this.runner = runner;
        this.directory = directory;
        this.isTemporary = isTemporary;
        this.detaches = detaches;
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    static Program started(Measurement measurement, List<String> command) throws IOException {
        Path chosen = measurement.session();
        Path directory = chosen == null ? Files.createTempDirectory("mdl-script-") : chosen.toAbsolutePath();
        List<String> words = new ArrayList<>(
                List.of(mdl(), "collect", measurement.collected().key(), "--"));
        words.addAll(command);
        Process runner = measurement.process(words, directory).start();
        Program program = new Program(runner, directory, chosen == null, false);
        try {
            program.awaitProbes(runner, command.getFirst());
        } catch (IOException | RuntimeException e) {
            program.close();
            throw e;
        }
        return program;
    }

    static Program attached(Measurement measurement, long pid) throws IOException {
        SessionStore store = SessionStore.ofUser(System.getenv(), CONSOLE);
        Path present = presentSession(store, pid);
        if (present != null) {
            try (SessionReader reader = SessionReader.open(present)) {
                Collected there = reader.facts().collected();
                if (there != measurement.collected()) {
                    throw new MdlException(
                            "the agent of process " + pid + " measures " + there.key(),
                            "use Measurement." + there.key() + "(), or start the program again");
                }
            }
            boolean returned = isAttachedAgain(present);
            return new Program(null, present, false, returned);
        }
        List<String> words = List.of(mdl(), "collect", measurement.collected().key(), "--pid", Long.toString(pid));
        Process attaching = measurement
                .process(words, measurement.session())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.PIPE)
                .start();
        String said = new String(attaching.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        if (statusOf(attaching) != 0) {
            throw refusal(said);
        }
        return new Program(null, store.find(Long.toString(pid)), false, true);
    }

    /// The session of a process with the agent, null if there is none.
    private static @Nullable Path presentSession(SessionStore store, long pid) throws IOException {
        Path found;
        try {
            found = store.find(Long.toString(pid));
        } catch (CommandFailure e) {
            return null;
        }
        try (SessionReader reader = SessionReader.open(found)) {
            SessionFacts facts = reader.facts();
            return ProgramState.runs(facts) && facts.state() != SessionFacts.State.AGENT_DEAD ? found : null;
        }
    }

    private static boolean isAttachedAgain(Path session) throws IOException {
        try {
            String unused = ControlClient.ask(session, "agent attach");
            return true;
        } catch (CommandFailure e) {
            return false; // it was attached
        }
    }

    /// What `mdl` said on its stderr: `mdl: MESSAGE`, and perhaps a line with the remedy.
    private static MdlException refusal(String said) {
        List<String> lines = said.lines().map(String::strip).toList();
        String message = lines.isEmpty() ? "mdl has failed" : lines.getFirst().replaceFirst("^mdl: ", "");
        return new MdlException(message, lines.size() < 2 ? null : lines.get(1));
    }

    private static String mdl() {
        return Installation.ofProcess().home().resolve("bin/mdl").toString();
    }

    private void awaitProbes(Process process, String name) throws IOException {
        long end = System.nanoTime() + READY_NANOS;
        boolean ended;
        do {
            ended = !process.isAlive(); // first: what it has written is read afterwards
            if (isReady()) {
                return;
            }
            LockSupport.parkNanos(POLL_NANOS);
        } while (!ended && System.nanoTime() - end < 0);
        throw new MdlException(
                ended
                        ? name + " ended with status " + process.exitValue() + " and was not measured"
                        : name + " is not measured",
                "mdl doctor " + name + " explains");
    }

    /// Whether the program has probes, or its agent has given up.
    private boolean isReady() {
        try (SessionReader reader = SessionReader.open(store.find(directory.toString()))) {
            SessionFacts facts = reader.facts();
            if (facts.state() == SessionFacts.State.AGENT_DEAD) {
                throw new MdlException("the agent has given up", "its agent.log says why: " + directory);
            }
            return facts.probes().armed();
        } catch (CommandFailure | IOException e) {
            return false; // the session is not there, or not complete
        }
    }

    private interface Reading<T> {
        T of(SessionReader reader) throws IOException;
    }

    private <T> T read(Reading<T> reading) {
        try (SessionReader reader = SessionReader.open(session(), DebugNames.present(CONSOLE))) {
            return reading.of(reader);
        } catch (IOException e) {
            throw MdlException.of(e);
        }
    }

    private String ask(String request) {
        try {
            return ControlClient.ask(session(), request);
        } catch (CommandFailure e) {
            throw MdlException.of(e);
        } catch (IOException e) {
            throw MdlException.of(e);
        }
    }

    /// The directory of the session.
    public Path session() {
        try {
            return store.find(directory.toString());
        } catch (CommandFailure e) {
            throw MdlException.of(e);
        } catch (IOException e) {
            throw MdlException.of(e);
        }
    }

    /// The process that is measured.
    public int pid() {
        return read(SessionReader::pid);
    }

    /// Whether the program runs.
    public boolean isRunning() {
        return read(reader -> ProgramState.runs(reader.facts()));
    }

    /// What was measured so far.
    public Snapshot snapshot() {
        return read(Snapshot::of);
    }

    /// Records the calls of functions again that were disabled. Functions of libraries that have no probes get them.
    ///
    /// @param pattern `FUNCTION`, `IMAGE!FUNCTION` or `FILE:FUNCTION` with `*` and `?`
    /// @return number of functions
    /// @throws MdlException if none matches, or the program has ended
    public int enable(String pattern) {
        return countOf(ask("probes on " + Snapshot.glob(pattern)));
    }

    /// Does not record the calls of functions from now on. Their probes are off and cost nothing.
    ///
    /// @param pattern `FUNCTION`, `IMAGE!FUNCTION` or `FILE:FUNCTION` with `*` and `?`
    /// @return number of functions
    /// @throws MdlException if none matches, or the program has ended
    public int disable(String pattern) {
        return countOf(ask("probes off " + Snapshot.glob(pattern)));
    }

    private static int countOf(String answer) {
        return Integer.parseInt(answer.substring(0, answer.indexOf(' ')));
    }

    /// Starts to measure a metric; [Snapshot#metric] has its value.
    ///
    /// @param request `METRIC@FOCUS...`, as for `mdl enable`
    /// @return what is not measured, and why; usually empty
    /// @throws MdlException if it is not possible, or would take more than a tenth of a processor ([#forceMetric])
    public List<String> enableMetric(String request) {
        return ask("metric enable " + request).lines().skip(1).toList();
    }

    /// As [#enableMetric], whatever it is expected to take.
    public List<String> forceMetric(String request) {
        return ask("metric force " + request).lines().skip(1).toList();
    }

    /// Stops measuring a metric, or all that match a pattern.
    ///
    /// @param request as enabled
    public void disableMetric(String request) {
        String unused = ask("metric disable " + request);
    }

    /// Defines a metric, a constraint or a list for this program.
    ///
    /// @param mdl one definition in MDL (`docs/mdl.md`)
    /// @throws MdlException if it has errors
    public void define(String mdl) {
        String unused = ask("metric define " + mdl);
    }

    /// Waits for the program's end.
    ///
    /// @return its exit status, 128 + N if signal N killed it; [#UNKNOWN_STATUS] if it was attached to
    public int waitFor() {
        if (runner != null) {
            return statusOf(runner);
        }
        if (isRunning()) {
            ProcessHandle.of(pid()).ifPresent(process -> process.onExit().join());
        }
        return UNKNOWN_STATUS;
    }

    private static int statusOf(Process process) {
        try {
            return process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MdlException("the script was interrupted", null);
        }
    }

    /// Ends a program that was run and still runs: by SIGTERM, after 10 s by SIGKILL. Detaches from a program that was
    /// attached to, unless it had an active agent before. Removes the session of a program that was run, unless its
    /// directory was chosen.
    @Override
    public void close() {
        if (!closed) {
            Runtime.getRuntime().removeShutdownHook(atExit);
            release();
        }
    }

    private void release() {
        closed = true;
        try {
            if (runner != null) {
                end(runner);
            } else if (detaches && isRunning()) {
                String unused = ask("agent detach");
            }
            if (isTemporary) {
                removeSession();
            }
        } catch (IOException e) {
            throw MdlException.of(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// `mdl` passes SIGTERM on to the program, and ends after it.
    private static void end(Process runner) throws InterruptedException {
        runner.destroy();
        if (!runner.waitFor(TERM_SECONDS, TimeUnit.SECONDS)) {
            runner.children().forEach(ProcessHandle::destroyForcibly);
            int unused = runner.waitFor();
        }
    }

    private void removeSession() throws IOException {
        Files.walkFileTree(directory, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException failure) throws IOException {
                Files.delete(visited);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
