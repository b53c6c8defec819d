package org.mdlagent.runtime.cli.manual;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Model.OptionSpec;

/// Shell completion for `mdl`: commands, their options, and files.
final class Completion {
    /// The command whose parameters are a program and its arguments.
    private static final String RUN = "run";

    private Completion() {}

    static String bash(CommandText program) {
        StringBuilder script = new StringBuilder("""
                # Completion of mdl for bash.
                _mdl() {
                    local current=${COMP_WORDS[COMP_CWORD]} options=
                    COMPREPLY=()
                    if [ "$COMP_CWORD" = 1 ]; then
                        options='%s'
                        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
                        return
                    fi
                    case ${COMP_WORDS[1]} in
                """.formatted(words(
                Stream.concat(program.commands().stream().map(CommandText::name), optionNames(program.options())))));
        for (CommandText command : program.commands()) {
            script.append(
                    "        %s) options='%s' ;;\n".formatted(command.name(), words(optionNames(command.options()))));
        }
        return script.append("""
                    esac
                    case $current in
                        -*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current") ;;
                        *) [ "${COMP_WORDS[1]}" != run ] || mapfile -t COMPREPLY < <(compgen -c -- "$current") ;;
                    esac
                }
                complete -o bashdefault -o default -F _mdl mdl
                """).toString();
    }

    static String zsh(CommandText program) {
        StringBuilder script = new StringBuilder("#compdef mdl\n# Completion of mdl for zsh.\n");
        script.append("if (( CURRENT == 2 )); then\n    local -a commands=(\n");
        for (CommandText command : program.commands()) {
            script.append("        ")
                    .append(quoted(command.name() + ":" + command.description()))
                    .append('\n');
        }
        script.append("    )\n    _describe command commands\n    return\nfi\nshift words\n(( CURRENT-- ))\n");
        script.append("case $words[1] in\n");
        for (CommandText command : program.commands()) {
            script.append("    ").append(command.name()).append(")\n        _arguments -S \\\n");
            for (OptionSpec option : command.options()) {
                for (String name : option.names()) {
                    script.append("            ")
                            .append(quoted(argument(name, option)))
                            .append(" \\\n");
                }
            }
            String rest = command.name().equals(RUN) ? "*::program:_normal" : "*:file:_files";
            script.append("            ").append(quoted(rest)).append("\n        ;;\n");
        }
        return script.append("esac\n").toString();
    }

    /// An option in the syntax of `_arguments`: `*--name=-[description]:VALUE:_files`.
    private static String argument(String name, OptionSpec option) {
        String what = CommandText.joined(option.description()).replaceAll("([\\[\\]:])", "\\\\$1");
        String repeatable = option.isMultiValue() ? "*" : "";
        if (!CommandText.takesValue(option) || !CommandText.needsValue(option)) {
            return repeatable + name + "[" + what + "]";
        }
        String label = option.paramLabel().replaceAll("([\\[\\]:])", "\\\\$1");
        return repeatable + name + (name.startsWith("--") ? "=" : "") + "[" + what + "]:" + label + ":_files";
    }

    private static Stream<String> optionNames(List<OptionSpec> options) {
        return options.stream().flatMap(option -> Arrays.stream(option.names())).filter(name -> name.startsWith("--"));
    }

    private static String words(Stream<String> words) {
        return words.collect(Collectors.joining(" "));
    }

    private static String quoted(String words) {
        return "'" + words.replace("'", "'\\''") + "'";
    }
}
