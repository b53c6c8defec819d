package org.mdlagent.runtime.cli.manual;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/// A manual page, in troff's `man` macros.
final class ManualPage {
    private static final String PROGRAM = "mdl";

    private final StringBuilder text = new StringBuilder();

    private ManualPage() {}

    /// The program's page: `mdl(1)`.
    static String ofProgram(CommandText program, String version) {
        ManualPage page = new ManualPage();
        page.head(PROGRAM, program, version);
        page.section("COMMANDS");
        for (CommandText command : program.commands()) {
            page.item("\\fB" + escaped(command.name()) + "\\fR", command.description());
        }
        page.parametersAndOptions(program);
        page.section("SEE ALSO");
        page.text.append(program.commands().stream()
                .map(command -> reference(PROGRAM + "-" + command.name()))
                .collect(Collectors.joining(",\n", "", "\n")));
        return page.text.toString();
    }

    /// A command's page: `mdl-report(1)`.
    static String ofCommand(CommandText command, String version) {
        ManualPage page = new ManualPage();
        page.head(PROGRAM + "-" + command.name(), command, version);
        page.parametersAndOptions(command);
        if (!command.footer().isEmpty()) {
            page.section("NOTES");
            page.text.append(line(command.footer())).append('\n');
        }
        page.section("SEE ALSO");
        page.text.append(reference(PROGRAM)).append('\n');
        return page.text.toString();
    }

    private void head(String name, CommandText command, String version) {
        text.append(".TH \"")
                .append(name.toUpperCase(Locale.ROOT))
                .append("\" \"1\" \"\" \"")
                .append(escaped(version))
                .append("\" \"mdlagent\"\n");
        section("NAME");
        String description = command.description();
        int sentence = description.indexOf(". ");
        String brief = sentence < 0 ? description.replaceFirst("\\.$", "") : description.substring(0, sentence);
        text.append(escaped(name)).append(" \\- ").append(escaped(brief)).append('\n');
        section("SYNOPSIS");
        text.append(line(command.synopsis())).append('\n');
        section("DESCRIPTION");
        text.append(line(description)).append('\n');
    }

    private void parametersAndOptions(CommandText command) {
        if (!command.parameters().isEmpty()) {
            section("PARAMETERS");
        }
        for (PositionalParamSpec parameter : command.parameters()) {
            item("\\fI" + escaped(parameter.paramLabel()) + "\\fR", CommandText.joined(parameter.description()));
        }
        if (!command.options().isEmpty()) {
            section("OPTIONS");
        }
        for (OptionSpec option : command.options()) {
            String names = Arrays.stream(option.names())
                    .map(name -> "\\fB" + escaped(name) + "\\fR")
                    .collect(Collectors.joining(", "));
            item(names + value(option), CommandText.joined(option.description()));
        }
    }

    private static String value(OptionSpec option) {
        if (!CommandText.takesValue(option)) {
            return "";
        }
        String value = "=\\fI" + escaped(option.paramLabel()) + "\\fR";
        return CommandText.needsValue(option) ? value : "[" + value + "]";
    }

    private void section(String title) {
        text.append(".SH \"").append(title).append("\"\n");
    }

    private void item(String term, String description) {
        text.append(".TP\n").append(term).append('\n').append(line(description)).append('\n');
    }

    private static String reference(String page) {
        return "\\fB" + escaped(page) + "\\fR(1)";
    }

    /// A leading dot or apostrophe would make the line a troff request.
    private static String line(String words) {
        return "\\&" + escaped(words);
    }

    private static String escaped(String words) {
        return words.replace("\\", "\\e").replace("-", "\\-");
    }
}
