package org.mdlagent.runtime.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.mdlagent.runtime.cli.Mdl;
import org.mdlagent.runtime.cli.context.Installation;
import org.mdlagent.runtime.cli.session.SessionStore;
import org.mdlagent.runtime.cli.terminal.Console;
import org.mdlagent.runtime.options.AgentOption;
import org.mdlagent.runtime.options.AgentOptions;
import org.mdlagent.runtime.options.AgentOptionsText;
import picocli.CommandLine;

/// Each row of `mdl/options.def` has its effect everywhere: in the agent's options, the command line, its help, its
/// manual pages and its completions.
class OptionTableTest {
    private static final Path TABLE = Path.of("../native-shim/include/mdl/options.def");

    @TempDir
    private static Path manual;

    private static final ByteArrayOutputStream OUT = new ByteArrayOutputStream();

    private static Mdl mdl() {
        PrintStream stream = new PrintStream(OUT, true, StandardCharsets.UTF_8);
        Console console = new Console(stream, stream, false, false);
        SessionStore store = new SessionStore(List.of(manual), manual.resolve("memory"), notice -> {});
        return new Mdl(console, store, new Installation(manual.resolve("dist")));
    }

    private static List<String> found(String pattern) throws IOException {
        return Pattern.compile(pattern, Pattern.MULTILINE)
                .matcher(Files.readString(TABLE))
                .results()
                .map(row -> row.group(1))
                .toList();
    }

    @Test
    void shouldHaveEachRowOfTheTable() throws IOException {
        assertThat(Stream.of(AgentOption.values()).map(AgentOption::key))
                .isEqualTo(found("^OPTION\\(\\w+, \"(\\w+)\""));
        assertThat(CommandOptionTable.ROWS.stream().map(row -> String.join("|", row.names())))
                .isEqualTo(found("^COMMAND_LINE\\(\\w+, \"([^\"]+)\""));
    }

    /// Valid values that are not the default.
    private static List<String> samples(AgentOption option) {
        return switch (option.type()) {
            case SWITCH -> List.of(option.normal().equals("on") ? "off" : "on");
            case CHOICE ->
                option.choices().stream()
                        .filter(value -> !value.equals(option.normal()))
                        .toList();
            case NUMBER -> List.of(Integer.toString(option.most()));
            case PERCENT -> List.of("50");
            case DURATION -> List.of("7s");
            case SLOW_THRESHOLD -> List.of("p99.9", "500us", "1s");
            case EVENT -> List.of("context-switches", "major-faults");
            case RULE -> List.of("rate(f) > 1", "p99(f) > 5ms");
            case PATH, TEXTS, FILES, FUNCTIONS -> List.of("x");
            case SWITCH_OR_FUNCTIONS -> List.of("on", "x");
            case REPORT -> List.of("json", "html:x");
        };
    }

    private static AgentOptions read(String text) {
        AgentOptions.Reading reading = AgentOptions.read(AgentOptionsText.parse(text), null, null);
        assertThat(reading.problems()).isEmpty();
        return reading.options();
    }

    @ParameterizedTest
    @EnumSource
    void shouldReadEachOption(AgentOption option) {
        AgentOptions before = read("for=1s");
        String defaults = option == AgentOption.FOR ? "" : "for=1s";

        assertThat(samples(option))
                .isNotEmpty()
                .allSatisfy(value -> assertThat(read(defaults + "," + option.key() + "=" + value))
                        .isNotEqualTo(before));
        if (!option.normal().isEmpty()) {
            assertThat(read(defaults + "," + option.key() + "=" + option.normal()))
                    .isEqualTo(read(defaults));
        }
    }

    private static List<CommandOption> rows() {
        return CommandOptionTable.ROWS;
    }

    @ParameterizedTest
    @MethodSource("rows")
    void shouldSetItFromTheCommandLine(CommandOption row) {
        boolean needsValue = row.value().isEmpty();
        String value = needsValue ? "/x" : row.value();
        for (String command : row.commands()) {
            for (String name : row.names()) {
                CommandLine parser = mdl().parser(command);
                parser.parseArgs(
                        needsValue ? new String[] {command, name, value, "1"} : new String[] {command, name, "1"});
                CommandLine parsed = parser.getSubcommands().get(command);

                assertThat(MeasureOptions.text(parsed.getCommandSpec()).toString())
                        .isEqualTo(row.option().key() + "=" + value);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("rows")
    void shouldDescribeIt(CommandOption row) throws IOException {
        if (!Files.exists(manual.resolve("man1"))) {
            assertThat(mdl().execute("manual", manual.toString())).isZero();
        }
        String name = row.names().getLast();
        for (String command : row.commands()) {
            OUT.reset();
            assertThat(mdl().execute(command, "--help")).isZero();
            String help = OUT.toString(StandardCharsets.UTF_8);

            assertThat(joined(help)).contains(name).contains(joined(row.description()));
            assertThat(Files.readString(manual.resolve("man1/mdl-" + command + ".1"))
                            .replace("\\-", "-"))
                    .contains("\\fB" + name + "\\fR")
                    .contains(row.description());
            assertThat(lineOf(command + ")", "bash/mdl")).contains(name);
            assertThat(Files.readString(manual.resolve("zsh/_mdl"))
                            .split("\n    " + command + "\\)\n")[1]
                            .split(";;")[0])
                    .contains(name);
        }
    }

    /// Without blanks, at which help breaks its lines.
    private static String joined(String text) {
        return text.replaceAll("\\s+", "");
    }

    private static String lineOf(String start, String file) throws IOException {
        return Files.readString(manual.resolve(file))
                .lines()
                .filter(line -> line.strip().startsWith(start))
                .findFirst()
                .orElseThrow();
    }
}
