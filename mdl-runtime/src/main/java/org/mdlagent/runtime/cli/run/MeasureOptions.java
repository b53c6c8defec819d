package org.mdlagent.runtime.cli.run;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Console;
import org.mdlagent.runtime.options.AgentOption;
import org.mdlagent.runtime.options.AgentOptions;
import org.mdlagent.runtime.options.AgentOptionsText;
import picocli.CommandLine.Model.CommandSpec;

/// The agent's options, as commands set them: those of the command line (`mdl/options.def`), of the environment and of
/// files, and what commands add to them.
public final class MeasureOptions {
    /// For users waiting at a terminal.
    private static final String ATTENDED_BUDGET_PERCENT = "5";

    private MeasureOptions() {}

    /// Adds the options that a command of this name has.
    public static void addTo(CommandSpec command) {
        for (CommandOption option : of(command)) {
            command.addOption(option.spec());
        }
    }

    /// What the command line has set.
    public static AgentOptionsText text(CommandSpec command) {
        AgentOptionsText text = new AgentOptionsText();
        for (CommandOption option : of(command)) {
            option.addTo(text, command);
        }
        return text;
    }

    private static List<CommandOption> of(CommandSpec command) {
        return CommandOptionTable.ROWS.stream()
                .filter(option -> option.commands().contains(command.name()))
                .toList();
    }

    /// A remedy when PROGRAM does not exist: it may be meant as an option's value, but such a value must be
    /// attached.
    static @Nullable String remedy(AgentOptionsText commandLine, String program) {
        return "on".equals(commandLine.last(AgentOption.EXACT))
                ? "if that is a function: --exact='" + program + "', with an equals sign"
                : null;
    }

    /// The options of the command line, and those of `MDL_OPTIONS` that it does not set.
    public static AgentOptionsText overEnvironment(AgentOptionsText commandLine) {
        return commandLine.over(AgentOptionsText.parse(System.getenv().getOrDefault("MDL_OPTIONS", "")));
    }

    /// Makes main wait for the probes by default: users who type a command want all calls.
    public static void waitByDefault(AgentOptionsText given) {
        AgentOptionsText asked = reading(given).asked();
        if (asked.last(AgentOption.WAIT) == null && asked.last(AgentOption.START_DELAY_MILLIS) == null) {
            given.add(AgentOption.WAIT, "on");
        }
    }

    /// Raises the budget by default if the user waits at a terminal.
    public static void attend(AgentOptionsText given, Console console) {
        if (console.errIsTerminal() && reading(given).asked().last(AgentOption.BUDGET_PERCENT) == null) {
            given.add(AgentOption.BUDGET_PERCENT, ATTENDED_BUDGET_PERCENT);
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
