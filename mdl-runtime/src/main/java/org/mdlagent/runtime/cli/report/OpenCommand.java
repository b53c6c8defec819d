package org.mdlagent.runtime.cli.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.profile.SessionFacts;
import org.mdlagent.profiler.report.session.SessionReader;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.names.DebugNames;
import org.mdlagent.runtime.cli.session.ProgramState;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Console;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `mdl open`: shows the page of a session in a browser.
@Command(
        name = "open",
        description = "Show a session's page in a browser: $BROWSER, or the desktop's. Prints the page's file.",
        customSynopsis = "mdl open [SESSION]",
        sortOptions = false)
public final class OpenCommand implements Callable<Integer> {
    private static final String DESKTOP = "xdg-open";

    private static final int ID_LENGTH_MAX = 100;

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandContext mdl;

    @Parameters(
            paramLabel = "SESSION",
            arity = "0..1",
            description = "A directory, a process id, or a prefix of a session's name. Default: the newest.")
    private @Nullable String session;

    @Override
    public Integer call() throws IOException, InterruptedException {
        return call(System.getenv());
    }

    int call(Map<String, String> environment) throws IOException, InterruptedException {
        Console console = mdl.console();
        Path page;
        try (SessionReader reader =
                SessionReader.open(mdl.store().findSettled(session, console), DebugNames.fetching(console))) {
            SessionFacts facts = reader.facts();
            // Others cannot read it. It is not deleted here, because the browser outlives this process.
            page = Files.createTempFile("mdl-" + fileName(facts.id()) + "-", ".html");
            ReportFormat.HTML.write(reader, page);
            if (ProgramState.runs(facts)) {
                console.say("the program runs: this is how it is now", "mdl serve shows it live");
            }
        }
        console.out().println(page);
        List<List<String>> browsers = browsers(environment, page.toString());
        for (List<String> browser : browsers) {
            try {
                if (new ProcessBuilder(browser).inheritIO().start().waitFor() == 0) {
                    return 0;
                }
            } catch (IOException e) {
                // There is no such program; try the next one.
            }
        }
        if (browsers.isEmpty()) {
            console.say("there is no browser here", "open the file in one, or set BROWSER");
            return 0;
        }
        console.say(
                "no browser has shown it: " + browsers.getLast().getFirst(), "open the file in one, or set BROWSER");
        return CommandFailure.FAILED;
    }

    /// A safe part of a file name: the id comes from the session, so it may contain anything.
    static String fileName(String id) {
        String letters = id.replaceAll("[^A-Za-z0-9._-]", "_");
        return letters.substring(0, Math.min(letters.length(), ID_LENGTH_MAX));
    }

    /// The commands to try in turn: those of `BROWSER`, separated by colons, with `%s` for the page;
    /// otherwise the desktop's, if there is one.
    static List<List<String>> browsers(Map<String, String> environment, String page) {
        String chosen = environment.getOrDefault("BROWSER", "");
        if (!chosen.isBlank()) {
            return Stream.of(chosen.split(":"))
                    .filter(command -> !command.isBlank())
                    .map(command -> command(command, page))
                    .toList();
        }
        boolean desktop = environment.containsKey("DISPLAY") || environment.containsKey("WAYLAND_DISPLAY");
        return desktop ? List.of(List.of(DESKTOP, page)) : List.of();
    }

    private static List<String> command(String text, String page) {
        List<String> words = new ArrayList<>(List.of(text.strip().split("\\s+")));
        if (text.contains("%s")) {
            words.replaceAll(word -> word.replace("%s", page));
        } else {
            words.add(page);
        }
        return words;
    }
}
