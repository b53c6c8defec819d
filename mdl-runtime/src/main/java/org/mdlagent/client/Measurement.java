package org.mdlagent.client;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.figures.Collected;
import org.mdlagent.runtime.options.AgentOption;
import org.mdlagent.runtime.options.AgentOptionsText;

/// What to measure in a program. Each method changes this object and returns it.
///
/// Options of the environment's `MDL_OPTIONS` count where this object sets none.
public final class Measurement {
    private final Collected collected;
    private final AgentOptionsText options = new AgentOptionsText();
    private @Nullable Path session;
    private @Nullable Path input;
    private @Nullable Path output;

    private Measurement(Collected collected) {
        this.collected = collected;
        options.add(AgentOption.REPORT, "off");
    }

    /// Calls and how long they take, of a sample of the calls; of all with `option("exact", "on")`.
    public static Measurement latency() {
        return new Measurement(Collected.LATENCY);
    }

    /// Whether functions are called. A probe goes off at the first call of its function, and costs nothing afterwards.
    public static Measurement coverage() {
        return new Measurement(Collected.COVERAGE);
    }

    /// How often functions are called, exact.
    public static Measurement counts() {
        return new Measurement(Collected.COUNTS);
    }

    /// How often each basic block runs, exact; and calls.
    public static Measurement blocks() {
        return new Measurement(Collected.BLOCKS);
    }

    /// How often control goes from each basic block to each, exact; blocks and calls.
    public static Measurement arcs() {
        return new Measurement(Collected.ARCS);
    }

    /// Measures only these functions: `FUNCTION`, `IMAGE!FUNCTION` or `FILE:FUNCTION` with `*` and `?`. Default: those
    /// of the program, and of libraries that were compiled with probes.
    public Measurement include(String... patterns) {
        return add(AgentOption.INCLUDE.key(), patterns);
    }

    /// Leaves these functions out.
    public Measurement exclude(String... patterns) {
        return add(AgentOption.EXCLUDE.key(), patterns);
    }

    /// Enables metrics before `main`: `METRIC@FOCUS...`, as for `mdl enable`.
    public Measurement metric(String... requests) {
        return add(AgentOption.METRIC.key(), requests);
    }

    /// Sets an option of the agent, such as `after`, `for`, `exact` or `budgetPercent`. `include/mdl/options.def` of
    /// the sources lists all.
    public Measurement option(String key, String value) {
        return add(key, value);
    }

    private Measurement add(String key, String... values) {
        Arrays.stream(values).forEach(value -> options.add(key, value));
        return this;
    }

    /// Keeps the session in a directory. Otherwise it is removed when a [Program] that was run is closed.
    public Measurement session(Path directory) {
        session = directory;
        return this;
    }

    /// Where the program reads its standard input. Default: where the script does.
    public Measurement input(Path file) {
        input = file;
        return this;
    }

    /// Where the program writes its standard output. Default: where the script does.
    public Measurement output(Path file) {
        output = file;
        return this;
    }

    /// Starts a program with the agent, and returns when its probes are in place. `main` waits for them.
    ///
    /// @param command the program, found along `PATH`, and its arguments
    /// @throws MdlException if it cannot be started or not be measured
    public Program run(String... command) {
        if (command.length == 0) {
            throw new MdlException("no program is named", "give its command line");
        }
        try {
            return Program.started(this, List.of(command));
        } catch (IOException e) {
            throw MdlException.of(e);
        }
    }

    /// Brings the agent into a running program, and returns when its probes are in place. If the agent is there, its
    /// session is used, and this object's options are not.
    ///
    /// @throws MdlException if that is not possible, or if the agent that is there measures something else
    public Program attach(long pid) {
        try {
            return Program.attached(this, pid);
        } catch (IOException e) {
            throw MdlException.of(e);
        }
    }

    Collected collected() {
        return collected;
    }

    @Nullable
    Path session() {
        return session;
    }

    /// A process that runs `mdl` with these options.
    ///
    /// @param directory for the session, null for the usual place
    ProcessBuilder process(List<String> command, @Nullable Path directory) {
        AgentOptionsText all = new AgentOptionsText();
        if (directory != null) {
            all.add(AgentOption.SESSION, directory.toString());
        }
        ProcessBuilder builder = new ProcessBuilder(command);
        Map<String, String> environment = builder.environment();
        AgentOptionsText given = AgentOptionsText.parse(environment.getOrDefault("MDL_OPTIONS", ""));
        environment.put("MDL_OPTIONS", all.over(options).over(given).toString());
        return builder.redirectInput(redirect(input))
                .redirectOutput(
                        output == null ? ProcessBuilder.Redirect.INHERIT : ProcessBuilder.Redirect.to(output.toFile()))
                .redirectError(ProcessBuilder.Redirect.INHERIT);
    }

    private static ProcessBuilder.Redirect redirect(@Nullable Path file) {
        return file == null ? ProcessBuilder.Redirect.INHERIT : ProcessBuilder.Redirect.from(new File(file.toString()));
    }
}
