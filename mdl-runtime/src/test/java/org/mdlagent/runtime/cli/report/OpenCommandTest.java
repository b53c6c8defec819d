package org.mdlagent.runtime.cli.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.runtime.cli.FakeSession;
import org.mdlagent.runtime.cli.Mdl;
import org.mdlagent.runtime.cli.context.Installation;
import org.mdlagent.runtime.cli.session.SessionStore;
import org.mdlagent.runtime.cli.terminal.Console;
import picocli.CommandLine;

class OpenCommandTest {
    private static final long NOBODY = 5_000_000;

    @TempDir
    private Path root;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int open(Map<String, String> environment) throws Exception {
        FakeSession.in(root, "app-1-20260101T000000", NOBODY, 1_767_225_600);
        Console console = new Console(new PrintStream(out, true), new PrintStream(err, true), false, false);
        SessionStore store = new SessionStore(List.of(root), root.resolve("memory"), notice -> {});
        CommandLine commandLine = new Mdl(console, store, new Installation(root.resolve("dist"))).parser("open");
        OpenCommand command = commandLine.getSubcommands().get("open").getCommand();
        return command.call(environment);
    }

    private Path page() {
        return Path.of(out.toString(StandardCharsets.UTF_8).strip());
    }

    @Test
    void shouldGiveTheBrowserAPageThatOthersCannotRead() throws Exception {
        Path seen = root.resolve("seen");
        Path browser = Files.writeString(root.resolve("browser"), "#!/bin/sh\ncp \"$2\" '" + seen + "'\n");
        Files.setPosixFilePermissions(browser, PosixFilePermissions.fromString("rwx------"));

        int status = open(Map.of("BROWSER", root.resolve("absent") + ":" + browser + " --new %s"));

        assertThat(err.toString(StandardCharsets.UTF_8)).isEmpty();
        assertThat(status).isZero();
        assertThat(seen).content().startsWith("<!DOCTYPE html>").contains("app-1-20260101T000000");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(page())))
                .isEqualTo("rw-------");
        Files.delete(page());
    }

    @Test
    void shouldSayWhereThePageIsWhenNobodyCanShowIt() throws Exception {
        assertThat(open(Map.of())).isZero();

        assertThat(page()).content().startsWith("<!DOCTYPE html>");
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("there is no browser here", "set BROWSER");
        Files.delete(page());
    }

    @Test
    void shouldFailWhereTheBrowserDoes() throws Exception {
        assertThat(open(Map.of("BROWSER", "false"))).isEqualTo(1);

        assertThat(err.toString(StandardCharsets.UTF_8)).contains("no browser has shown it: false");
        Files.delete(page());
    }

    @ParameterizedTest
    @CsvSource({
        "BROWSER, firefox, '[[firefox, p]]'",
        "BROWSER, 'chromium --app=%s: lynx', '[[chromium, --app=p], [lynx, p]]'",
        "DISPLAY, :0, '[[xdg-open, p]]'",
        "WAYLAND_DISPLAY, wayland-0, '[[xdg-open, p]]'",
        "TERM, xterm, '[]'",
    })
    void shouldTryTheChosenBrowsersOrTheDesktops(String variable, String value, String commands) {
        assertThat(OpenCommand.browsers(Map.of(variable, value), "p")).hasToString(commands);
    }

    @ParameterizedTest
    @CsvSource({"app-1-20260101T000000,app-1-20260101T000000", "../../etc/x,.._.._etc_x", "a b\u001bc,a_b_c"})
    void shouldNameThePageByLettersOfTheSessionsId(String id, String expected) {
        assertThat(OpenCommand.fileName(id)).isEqualTo(expected);
        assertThat(OpenCommand.fileName("x".repeat(300))).hasSize(100);
    }
}
