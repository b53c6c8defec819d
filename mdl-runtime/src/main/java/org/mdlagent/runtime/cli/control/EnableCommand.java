package org.mdlagent.runtime.cli.control;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.mdlagent.runtime.cli.context.AttachOption;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.session.ControlClient;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.metric.MetricRequest;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `mdl enable`: starts measuring metrics in a running program.
@Command(
        name = "enable",
        description = "Start measuring metrics in a running program.",
        customSynopsis = "mdl enable [OPTIONS] PID|SESSION METRIC[@FOCUS...]...",
        footer = "Exit status 1: at least one metric was refused; the others are enabled.",
        sortOptions = false)
public final class EnableCommand implements Callable<Integer> {
    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandContext mdl;

    @Option(names = "--force", description = "Even if its predicted cost is more than a tenth of a processor.")
    private boolean force;

    @Option(
            names = "--mdl",
            paramLabel = "FILE",
            description = "Your own metrics in MDL; name them after PID. Repeatable.")
    private List<Path> files = List.of();

    @Option(
            names = {"-e", "--expression"},
            paramLabel = "QUESTION",
            description = "A metric in one line: [NAME =] counter [of EXPRESSION] at entry|return of FUNCTION, or"
                    + " wallTimer|processTimer of FUNCTION, and [when CONDITION]; as in"
                    + " 'counter at entry of handle* when $arg[0] > 4096'. mdl compile -e shows its MDL. Repeatable.")
    private List<String> questions = List.of();

    @Parameters(index = "0", paramLabel = "PID|SESSION")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String session;

    @Parameters(
            index = "1..*",
            arity = "0..*",
            paramLabel = "METRIC[@FOCUS...]",
            description = "A focus is a path: /Code/aof.c/flushAppendOnlyFile, or /Code/libc.so.6/malloc in a"
                    + " loaded library. A pattern with * or ? selects all matches.")
    private List<String> requests = List.of();

    @Mixin
    private AttachOption attach = new AttachOption();

    @Override
    public Integer call() throws IOException {
        LiveDefinitions definitions = new LiveDefinitions(mdl.console());
        for (Path file : files) {
            definitions.addFile(file);
        }
        List<String> texts = new ArrayList<>(requests);
        for (String question : questions) {
            texts.add(definitions.addQuestion(question));
        }
        if (texts.isEmpty()) {
            throw CommandFailure.usage(
                    "no metric is named",
                    files.isEmpty()
                            ? "try: mdl enable " + session + " io_wait; mdl list metrics lists them"
                            : "defined are: " + String.join(", ", definitions.metrics()));
        }
        List<MetricRequest> wanted = requests(texts);
        var unused = attach.apply(mdl, session);
        Path directory = mdl.store().find(session);
        definitions.send(directory);
        return enable(directory, wanted);
    }

    /// A refused metric does not stop the others.
    private int enable(Path directory, List<MetricRequest> wanted) throws IOException {
        int refused = 0;
        for (MetricRequest request : wanted) {
            try {
                enable(directory, request);
            } catch (CommandFailure e) {
                mdl.console().say(String.valueOf(e.getMessage()), e.remedy());
                refused++;
            }
        }
        if (refused > 0 && wanted.size() > 1) {
            mdl.console().say(enabled(wanted.size(), refused), null);
        }
        return refused == 0 ? 0 : CommandFailure.FAILED;
    }

    private static String enabled(int wanted, int refused) {
        return refused == wanted
                ? "none of the " + wanted + " is enabled"
                : wanted - refused + " of " + wanted + " enabled, " + refused + " refused";
    }

    private void enable(Path directory, MetricRequest request) throws IOException {
        List<String> answer = ControlClient.ask(directory, (force ? "metric force " : "metric enable ") + request)
                .lines()
                .toList();
        String[] counts = answer.getFirst().split("\t", 3);
        String metrics = counts[0].equals("1") ? "" : counts[0] + " metrics, ";
        String points = counts[0].equals("0") ? "each object is measured once it has been used" : points(counts[1]);
        mdl.console()
                .out()
                .println(request.metric() + " @ " + request.focus() + ": " + metrics + points
                        + (counts[2].equals("-") ? "" : ", expected overhead " + counts[2] + " %"));
        for (String obstacle : answer.subList(1, answer.size())) {
            mdl.console().say("not measured: " + obstacle, null);
        }
    }

    private static String points(String count) {
        return switch (count) {
            case "0" -> "counted by the kernel";
            case "1" -> "1 point";
            default -> count + " points";
        };
    }

    /// @throws CommandFailure when a text is not a valid request
    public static List<MetricRequest> requests(List<String> texts) {
        return texts.stream().map(EnableCommand::request).toList();
    }

    /// @throws CommandFailure when it is not a valid request
    public static MetricRequest request(String text) {
        try {
            return MetricRequest.of(text);
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage(String.valueOf(e.getMessage()), "as in io_wait@/Code/aof.c");
        }
    }
}
