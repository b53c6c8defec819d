package org.mdlagent.runtime.cli.run;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.profile.Loss;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.session.ControlClient;
import org.mdlagent.runtime.cli.session.ProgramState;
import org.mdlagent.runtime.cli.session.SessionStore;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Console;
import org.mdlagent.runtime.cli.terminal.Posix;
import org.mdlagent.runtime.options.AgentOptions;
import org.mdlagent.runtime.options.AgentOptionsText;

/// Brings the agent into a process that was started without it, by `lib/mdl-inject`. Checks beforehand what could
/// prevent it, and waits for the probes.
public final class Attachment {
    private static final String ENTRY = "mdl_attach";

    /// What threads call that are older than the agent and block signals that it needs.
    private static final String ADOPTION = "mdl_adopt";

    /// What [#ENTRY] returns (`agent/attach.h`), as the injector prints it.
    private static final Map<String, String> REFUSALS = Map.of(
            "1", "has the agent already",
            "2", "is written in Go: its threads must be known from their start",
            "3", "runs with rights that who started it has not");

    /// The agent's variables, which are its user's when that is this user.
    private static final List<String> VARIABLES = List.of("HOME", "XDG_STATE_HOME", "MDL_CONFIG", "MDL_JVM_EXTRA");

    /// The command and the agent's start compete for processors.
    private static final long POLL_NANOS = 20_000_000;

    /// A loaded machine, and a program with a hundred thousand functions, take some of it.
    private static final long READY_NANOS = 120_000_000_000L;

    private static final int SEPARATOR = '\n';

    private final CommandContext mdl;
    private final int pid;
    private final PrintStream out;

    /// @param pid of a process of this user, or of one that this user may trace
    /// @param out receives how many functions have probes
    public Attachment(CommandContext mdl, int pid, PrintStream out) {
        this.mdl = mdl;
        this.pid = pid;
        this.out = out;
    }

    /// Brings the agent into the process with the default options, unless its probes are there.
    ///
    /// @return whether they were not
    public boolean attachUnlessPresent() throws IOException {
        if (TargetProcess.read(pid).hasAgent()) {
            Path session = mdl.store().of(pid, ProgramState.start(pid), null);
            return session != null && isAttachedAgain(session);
        }
        attach(new AgentOptionsText());
        if (mdl.store().of(pid, ProgramState.start(pid), null) == null) {
            throw CommandFailure.failed("the session of process " + pid + " is of another user", null);
        }
        return true;
    }

    /// Brings the agent into the process.
    ///
    /// @param commandLine what is measured
    /// @return the exit status of the command
    int attach(AgentOptionsText commandLine) throws IOException {
        Console console = mdl.console();
        AgentOptionsText given = MeasureOptions.overEnvironment(commandLine);
        MeasureOptions.attend(given, console);
        AgentOptions options = MeasureOptions.read(given);
        TargetProcess target = TargetProcess.read(pid);
        SessionFacts.ProcessStart start = ProgramState.start(pid);
        String place = options.session();
        Path directory = place == null ? null : Path.of(place).toAbsolutePath().normalize();
        Path detached = mdl.store().of(pid, start, directory);
        if (detached != null && isAttachedAgain(detached)) {
            out.println("%s %d: the probes are back; session %s"
                    .formatted(printableName(target), pid, SessionStore.name(detached)));
            return 0;
        }
        Path library = mdl.installation().library();
        for (CommandFailure objection : target.objections(library)) {
            throw objection;
        }
        Path recorded;
        try (TargetView view = TargetView.of(target, mdl.installation(), directory, mdl.store())) {
            Path session = view.session();
            given = session == null ? given : SessionPlace.option(session).over(given);
            inject(target, library.resolveSibling("mdl-inject"), view.library(), variables(target, given));
            view.keep();
            recorded = await(start, view.recorded(), target);
        }
        if (recorded == null) {
            console.say(
                    "the agent is in process " + pid + ", whose user's sessions are not read here",
                    "as its user: mdl top " + pid);
            return 0;
        }
        if (directory != null) {
            mdl.store().remember(recorded);
        }
        return tell(recorded, target);
    }

    /// The agent is there already, and goes on after `mdl detach`.
    private static boolean isAttachedAgain(Path session) throws IOException {
        try {
            return ControlClient.ask(session, "agent attach").isEmpty();
        } catch (CommandFailure e) {
            return false; // the injector finds out why
        }
    }

    /// `NAME=value`, a line each.
    private static String variables(TargetProcess target, AgentOptionsText options) {
        boolean isOwn = target.effectiveUser() == Posix.effectiveUser();
        Map<String, String> from = isOwn ? System.getenv() : target.environment();
        StringBuilder text = new StringBuilder();
        for (String name : VARIABLES) {
            String value = from.get(name);
            if (value != null && value.indexOf(SEPARATOR) < 0) {
                text.append(name).append('=').append(value).append((char) SEPARATOR);
            }
        }
        String list = options.toString();
        if (list.indexOf(SEPARATOR) >= 0) {
            throw CommandFailure.usage("an option holds a line break", null);
        }
        if (target.innermostPid() != target.pid()) {
            text.append("MDL_READERS_PID=").append(target.pid()).append((char) SEPARATOR);
        }
        if (!target.sharesMemory()) {
            text.append("MDL_SESSION_IN_DIRECTORY=").append((char) SEPARATOR);
        }
        return text.append("MDL_OPTIONS=").append(list).append((char) SEPARATOR).toString();
    }

    private static void inject(TargetProcess target, Path injector, Path library, String variables) throws IOException {
        Process process = new ProcessBuilder(
                        injector.toString(), Integer.toString(target.pid()), library.toString(), ENTRY, ADOPTION)
                .start();
        try (OutputStream input = process.getOutputStream()) {
            input.write(variables.getBytes(StandardCharsets.UTF_8));
        }
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        String err = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        String result = out.startsWith("result ") ? out.split(" ")[1] : "";
        if (result.equals("0")) {
            return;
        }
        String why = REFUSALS.get(result);
        throw why == null
                ? target.leftAsItIs(err)
                : CommandFailure.failed(
                        "process " + target.pid() + " (" + target.name() + ") " + why,
                        "start it with the agent: mdl run -- PROGRAM");
    }

    /// The session, when its probes are in place or its agent has given up; null when it cannot be found.
    private @Nullable Path await(
            SessionFacts.@Nullable ProcessStart start, @Nullable Path directory, TargetProcess target)
            throws IOException {
        long end = System.nanoTime() + READY_NANOS;
        Path found = null;
        while (System.nanoTime() - end < 0) {
            if (!Objects.equals(start, ProgramState.start(pid))) {
                throw CommandFailure.failed("process " + pid + " (" + target.name() + ") has ended", null);
            }
            found = found == null ? mdl.store().of(pid, start, directory) : found;
            if (found == null && target.effectiveUser() != Posix.effectiveUser()) {
                return null;
            }
            if (found != null) {
                try (SessionReader reader = SessionReader.open(found)) {
                    if (reader.facts().state() != SessionFacts.State.STARTING) {
                        return found;
                    }
                }
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
        return found;
    }

    private static String printableName(TargetProcess target) {
        return target.name().replaceAll("\\p{Cntrl}", "?");
    }

    private int tell(Path recorded, TargetProcess target) throws IOException {
        Console console = mdl.console();
        try (SessionReader reader = SessionReader.open(recorded)) {
            SessionFacts facts = reader.facts();
            if (facts.state() == SessionFacts.State.AGENT_DEAD) {
                new Unmeasured(target.name(), reader, console).sayWhy(recorded, false);
                return CommandFailure.FAILED;
            }
            if (!facts.probes().armed()) {
                console.say("the agent still prepares the probes of process " + pid, "mdl top " + pid + " shows them");
                return 0;
            }
            Profile profile = reader.profile();
            out.println(String.format(
                    Locale.ROOT,
                    "%s %d: %,d functions have probes after %.1f s; session %s",
                    printableName(target),
                    pid,
                    profile.functions().size(),
                    facts.probes().afterNanos().orElse(0) / 1e9,
                    SessionStore.name(recorded)));
            for (Loss loss : profile.losses()) {
                if (loss.reason() == Loss.Reason.FUNCTIONS) {
                    console.say(
                            String.format(Locale.ROOT, "%,d functions have none; agent.log says why", loss.count()),
                            "more have one when the program starts with the agent: mdl run -- PROGRAM");
                }
            }
        }
        return 0;
    }
}
