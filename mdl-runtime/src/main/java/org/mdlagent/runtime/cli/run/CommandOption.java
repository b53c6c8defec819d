package org.mdlagent.runtime.cli.run;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Stack;
import org.mdlagent.runtime.options.AgentOption;
import org.mdlagent.runtime.options.AgentOptionsText;
import org.mdlagent.runtime.options.OptionType;
import picocli.CommandLine.IParameterPreprocessor;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/// How the command line sets an option of the agent: a row of `mdl/options.def`.
///
/// @param names       such as `--budget`
/// @param label       of its value in help, "" if it takes none
/// @param value       what it sets if no value is given, "" if a value is required
/// @param commands    that have it
/// @param description for help
record CommandOption(
        AgentOption option, List<String> names, String label, String value, List<String> commands, String description) {

    /// `--report PROGRAM` runs PROGRAM: a value must be attached to the option.
    private static final class ValueOnlyBehindEqualsSign implements IParameterPreprocessor {
        @Override
        public boolean preprocess(
                Stack<String> arguments, CommandSpec command, ArgSpec option, Map<String, Object> info) {
            if (!"=".equals(info.get("separator"))) {
                arguments.push(((OptionSpec) option).fallbackValue());
            }
            return false;
        }
    }

    /// For the parser.
    OptionSpec spec() {
        OptionSpec.Builder spec =
                OptionSpec.builder(names.toArray(new String[0])).description(description);
        if (label.isEmpty()) {
            return spec.type(boolean.class).arity("0").build();
        }
        spec.paramLabel(label);
        if (option.type().isList()) {
            spec.type(List.class).auxiliaryTypes(String.class);
        } else {
            spec.type(String.class);
        }
        if (value.isEmpty()) {
            return spec.arity("1").build();
        }
        return spec.arity("0..1")
                .fallbackValue(value)
                .preprocessor(new ValueOnlyBehindEqualsSign())
                .build();
    }

    /// Adds what a command line has set. The first row of an option with a single value wins.
    void addTo(AgentOptionsText text, CommandSpec command) {
        switch (command.findOption(names.getFirst()).getValue()) {
            case Boolean given when given && text.last(option) == null -> text.add(option, value);
            case String given -> text.add(option, given);
            case List<?> given -> given.forEach(each -> text.add(option, inFull(each.toString())));
            case null, default -> {}
        }
    }

    /// The program may have changed its directory before the agent reads the files.
    private String inFull(String given) {
        return option.type() == OptionType.FILES
                ? Path.of(given).toAbsolutePath().toString()
                : given;
    }
}
