package org.mdlagent.runtime.cli.run;

import java.util.List;
import java.util.Map;
import java.util.Stack;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Console;
import org.mdlagent.runtime.options.AgentOptions;
import org.mdlagent.runtime.options.AgentOptionsText;
import picocli.CommandLine.IParameterPreprocessor;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;

/// What to measure in a program, and how: the options shared by `mdl run` and `mdl diff --runs`.
public final class MeasureOptions {
    /// For users waiting at a terminal.
    private static final String ATTENDED_BUDGET_PERCENT = "5";

    private static final String ALL_EXACT = "on";

    @Option(
            names = "--exact",
            arity = "0..1",
            paramLabel = "GLOB",
            fallbackValue = ALL_EXACT,
            preprocessor = ValueOnlyBehindEqualsSign.class,
            description = "Record every call instead of a sample; or every call of these functions, and a sample"
                    + " of the others. Repeatable.")
    private List<String> exact = List.of();

    @Option(
            names = "--counted",
            paramLabel = "GLOB",
            description = "Count every call of these functions, and time some by chance. Repeatable.")
    private List<String> counted = List.of();

    @Option(
            names = "--sliced",
            paramLabel = "GLOB",
            description = "Sample these functions in time slices, however few their calls are. Repeatable.")
    private List<String> sliced = List.of();

    @Option(names = "--counted-mean", paramLabel = "N", description = "Time one of this many of their calls (100).")
    private @Nullable String countedMean;

    @Option(names = "--cpu-time", description = "Measure the CPU time of the calling thread instead of elapsed time.")
    private boolean cpuTime;

    @Option(
            names = "--budget",
            paramLabel = "PCT",
            description = "CPU time for probes and agent, in percent (1; 5 if stderr is a terminal).")
    private @Nullable String budget;

    @Option(
            names = "--include",
            paramLabel = "GLOB",
            description = "Functions to probe; IMAGE!FUNCTION or FILE:FUNCTION narrows. Repeatable.")
    private List<String> include = List.of();

    @Option(names = "--exclude", paramLabel = "GLOB", description = "Functions not to probe. Repeatable.")
    private List<String> exclude = List.of();

    @Option(
            names = "--library-functions",
            paramLabel = "N",
            description = "Room for functions of libraries opened later (4096).")
    private @Nullable String libraryFunctions;

    @Option(
            names = "--children",
            paramLabel = "WHICH",
            description = "Executed programs that get an agent as well: none, probed (those with probes when"
                    + " they start, the default) or all.")
    private @Nullable String children;

    /// `--report PROGRAM` runs PROGRAM: a value must be attached to the option.
    static final class ValueOnlyBehindEqualsSign implements IParameterPreprocessor {
        @Override
        public boolean preprocess(
                Stack<String> arguments, CommandSpec command, ArgSpec option, Map<String, Object> info) {
            if (!"=".equals(info.get("separator"))) {
                arguments.push(((OptionSpec) option).fallbackValue());
            }
            return false;
        }
    }

    /// These options in the agent's format.
    public AgentOptionsText text() {
        AgentOptionsText text = new AgentOptionsText();
        exact.forEach(value -> text.add(AgentOptions.EXACT, value));
        counted.forEach(value -> text.add(AgentOptions.COUNTED, value));
        sliced.forEach(value -> text.add(AgentOptions.SLICED, value));
        addIf(countedMean, AgentOptions.COUNTED_MEAN, text);
        addIf(cpuTime ? "cpu" : null, AgentOptions.TIME, text);
        addIf(budget, AgentOptions.BUDGET_PERCENT, text);
        include.forEach(value -> text.add(AgentOptions.INCLUDE, value));
        exclude.forEach(value -> text.add(AgentOptions.EXCLUDE, value));
        addIf(libraryFunctions, AgentOptions.LIBRARY_FUNCTIONS, text);
        addIf(children, AgentOptions.CHILDREN, text);
        return text;
    }

    /// A remedy when PROGRAM does not exist: it may be meant as an option's value, but such a value must be
    /// attached.
    @Nullable
    String remedy(String program) {
        return exact.contains(ALL_EXACT)
                ? "if that is a function: --exact='" + program + "', with an equals sign"
                : null;
    }

    static void addIf(@Nullable String value, String key, AgentOptionsText text) {
        if (value != null) {
            text.add(key, value);
        }
    }

    /// The options of the command line, and those of `MDL_OPTIONS` that it does not set.
    public static AgentOptionsText overEnvironment(AgentOptionsText commandLine) {
        return commandLine.over(AgentOptionsText.parse(System.getenv().getOrDefault("MDL_OPTIONS", "")));
    }

    /// Makes main wait for the probes by default: users who type a command want all calls.
    public static void waitByDefault(AgentOptionsText given) {
        AgentOptionsText asked = reading(given).asked();
        if (asked.last(AgentOptions.WAIT) == null && asked.last(AgentOptions.START_DELAY_MILLIS) == null) {
            given.add(AgentOptions.WAIT, "on");
        }
    }

    /// Raises the budget by default if the user waits at a terminal.
    public static void attend(AgentOptionsText given, Console console) {
        if (console.errIsTerminal() && reading(given).asked().last(AgentOptions.BUDGET_PERCENT) == null) {
            given.add(AgentOptions.BUDGET_PERCENT, ATTENDED_BUDGET_PERCENT);
        }
    }

    /// Parses options.
    ///
    /// @throws CommandFailure when a value is invalid
    public static AgentOptions read(AgentOptionsText given) {
        AgentOptions.Reading reading = reading(given);
        if (!reading.problems().isEmpty()) {
            throw CommandFailure.usage(String.join("\nmdl: ", reading.problems()), null);
        }
        return reading.options();
    }

    private static AgentOptions.Reading reading(AgentOptionsText given) {
        return AgentOptions.read(given, System.getenv("MDL_CONFIG"), System.getenv("HOME"));
    }
}
