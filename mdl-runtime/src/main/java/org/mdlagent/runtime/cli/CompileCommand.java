package org.mdlagent.runtime.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.mdl.Compilation;
import org.mdlagent.runtime.mdl.Definitions;
import org.mdlagent.runtime.mdl.MetricLibrary;
import org.mdlagent.runtime.mdl.syntax.Diagnostic;
import org.mdlagent.runtime.mdl.syntax.SourceFile;
import org.mdlagent.runtime.mdl.syntax.SyntaxPrinter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `mdl compile`: checks a file of MDL, and shows what the compiler makes of it.
@Command(
        name = "compile",
        description = "Check a file of metrics in MDL.",
        customSynopsis = "mdl compile [--dump=ast] FILE",
        sortOptions = false)
final class CompileCommand implements Callable<Integer> {
    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private Mdl mdl;

    @Parameters(paramLabel = "FILE", description = "It may use lists and constraints that come with the agent.")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private Path file;

    @Option(names = "--dump", paramLabel = "STAGE", description = "Print a stage: ast, the syntax tree.")
    private @Nullable String dump;

    @Override
    public Integer call() throws IOException {
        checkStage();
        String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        Compilation compilation = Compilation.of(new SourceFile(file.toString(), text), MetricLibrary.load());
        Console console = mdl.console();
        for (Diagnostic diagnostic : compilation.diagnostics()) {
            console.err().println(diagnostic.format());
        }
        if (!compilation.isCorrect()) {
            return CommandFailure.FAILED;
        }
        if (dump == null) {
            console.out().println(file + ": " + summary(compilation.definitions()));
        } else {
            console.out().print(SyntaxPrinter.print(compilation.tree()));
        }
        return 0;
    }

    private void checkStage() {
        switch (dump) {
            case "ast" -> {}
            case "ir", "asm" ->
                throw CommandFailure.failed("--dump=" + dump + " is not in this version yet", "there is ast");
            case null -> {}
            default -> throw CommandFailure.usage("there is no stage " + dump, "there is ast");
        }
    }

    private static String summary(Definitions definitions) {
        List<String> parts = new ArrayList<>();
        parts.add(count(definitions.metrics().size(), "metric"));
        parts.add(count(definitions.constraints().size(), "constraint"));
        parts.add(count(definitions.lists().size(), "list"));
        return String.join(", ", parts);
    }

    private static String count(int count, String what) {
        return count + " " + what + (count == 1 ? "" : "s");
    }
}
