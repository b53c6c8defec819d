package org.mdlagent.runtime.cli.manual;

import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/// The `--help` text of a command, in pieces.
record CommandText(CommandLine commandLine) {
    private static final String HELP = "help";

    private CommandSpec spec() {
        return commandLine.getCommandSpec();
    }

    String name() {
        return spec().name();
    }

    String description() {
        return joined(spec().usageMessage().description());
    }

    /// The text below the options.
    String footer() {
        return joined(spec().usageMessage().footer());
    }

    String synopsis() {
        return new Help(spec(), Help.defaultColorScheme(Help.Ansi.OFF))
                .synopsis(0)
                .strip()
                .replaceAll("\\s+", " ");
    }

    /// The visible commands, except `help`, whose page would be this one.
    List<CommandText> commands() {
        return commandLine.getSubcommands().values().stream()
                .filter(command -> !command.getCommandSpec().usageMessage().hidden())
                .map(CommandText::new)
                .filter(command -> !command.name().equals(HELP))
                .toList();
    }

    List<OptionSpec> options() {
        return spec().options().stream().filter(option -> !option.hidden()).toList();
    }

    List<CommandLine.Model.PositionalParamSpec> parameters() {
        return spec().positionalParameters().stream()
                .filter(parameter -> !parameter.hidden())
                .toList();
    }

    static boolean takesValue(OptionSpec option) {
        return option.arity().max() > 0;
    }

    static boolean needsValue(OptionSpec option) {
        return option.arity().min() > 0;
    }

    static String joined(String[] lines) {
        return String.join(" ", lines).replace("%%", "%");
    }
}
