package org.mdlagent.runtime.cli.manual;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.runtime.cli.Mdl;
import org.mdlagent.runtime.cli.context.Installation;
import org.mdlagent.runtime.cli.session.SessionStore;
import org.mdlagent.runtime.cli.terminal.Console;

/// Manual pages and completions name what `--help` names.
class ManualCommandTest {
    private static final Pattern OPTION = Pattern.compile("--[a-z-]+");

    @TempDir
    private Path root;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    @BeforeEach
    void writeManual() {
        assertThat(mdl("manual", root.toString())).isEmpty();
    }

    private String mdl(String... arguments) {
        out.reset();
        PrintStream stream = new PrintStream(out, true, StandardCharsets.UTF_8);
        Console console = new Console(stream, stream, false, false);
        SessionStore store = new SessionStore(List.of(root), root.resolve("memory"), notice -> {});
        assertThat(new Mdl(console, store, new Installation(root.resolve("dist"))).execute(arguments))
                .isZero();
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void shouldHaveAPageOfEachCommandWithEachOption() throws IOException {
        List<Path> pages;
        try (Stream<Path> files = Files.list(root.resolve("man1"))) {
            pages = files.filter(page -> !page.endsWith("mdl.1")).toList();
        }
        assertThat(pages).hasSizeGreaterThan(10);
        for (Path page : pages) {
            String command = page.getFileName().toString().replaceAll("^mdl-|\\.1$", "");
            String text = Files.readString(page).replace("\\-", "-").replaceAll("\\\\f[BIR]", "");
            Matcher options = OPTION.matcher(mdl(command, "--help"));
            while (options.find()) {
                assertThat(text).as(command).contains(options.group());
            }
            assertThat(text.lines().filter(line -> line.startsWith("'")))
                    .as(command)
                    .isEmpty();
            assertThat(Files.readString(root.resolve("man1/mdl.1"))).contains("\\fB" + command + "\\fR\n");
        }
        assertThat(root.resolve("man1/mdl-manual.1")).as("a hidden command").doesNotExist();
    }

    @ParameterizedTest
    @CsvSource({
        "mdl rep, report",
        "mdl run --bud, --budget",
        "mdl report --form, --format",
        "mdl run --wait bas, bash",
        "mdl top --nothing, ''",
    })
    void shouldCompleteInBash(String typed, String offered) throws Exception {
        Process bash = new ProcessBuilder(
                        "bash",
                        "-c",
                        ". \"$0\"; COMP_WORDS=($1); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _mdl;"
                                + " printf '%s\\n' \"${COMPREPLY[@]}\"",
                        root.resolve("bash/mdl").toString(),
                        typed)
                .redirectErrorStream(true)
                .start();
        assertThat(new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8).lines())
                .contains(offered);
    }

    @Test
    void shouldTellZshEachCommandAndOption() throws IOException {
        assertThat(root.resolve("zsh/_mdl"))
                .content()
                .startsWith("#compdef mdl\n")
                .contains("'report:", "'*--exclude=[", "*::program:_normal");
    }
}
