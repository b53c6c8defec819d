package org.mdlagent.runtime.cli.control;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.text.ForeignText;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Console;
import org.mdlagent.runtime.mdl.Compilation;
import org.mdlagent.runtime.mdl.Definitions;
import org.mdlagent.runtime.mdl.Metric;
import org.mdlagent.runtime.mdl.MetricLibrary;
import org.mdlagent.runtime.mdl.OneLiner;
import org.mdlagent.runtime.mdl.request.Answer;
import org.mdlagent.runtime.mdl.request.Evaluator;
import org.mdlagent.runtime.mdl.request.Focus;
import org.mdlagent.runtime.mdl.request.Symbol;
import org.mdlagent.runtime.mdl.syntax.Diagnostic;
import org.mdlagent.runtime.mdl.syntax.SourceFile;
import org.mdlagent.runtime.mdl.syntax.SyntaxPrinter;
import org.mdlagent.runtime.metric.CompiledMetric;
import org.mdlagent.runtime.metric.ExampleProgram;
import org.mdlagent.runtime.options.RegularFile;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `mdl compile`: checks an MDL file, and shows what the compiler makes of it.
@Command(
        name = "compile",
        description = "Check a file of metrics in MDL.",
        customSynopsis = "mdl compile [--dump=STAGE [--focus=PATH]...] FILE|-e QUESTION",
        sortOptions = false)
public final class CompileCommand implements Callable<Integer> {
    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandContext mdl;

    @Parameters(
            paramLabel = "FILE",
            arity = "0..1",
            description = "It may use the lists and constraints that ship with the agent.")
    private @Nullable Path file;

    @Option(
            names = {"-e", "--expression"},
            paramLabel = "QUESTION",
            description = "A one-line metric, as in mdl enable -e: print its MDL.")
    private @Nullable String question;

    @Option(
            names = "--dump",
            paramLabel = "STAGE",
            description = {
                "Print a stage: ast (syntax tree), ir (what snippets do) or asm (their machine code).",
                "ir and asm assume a program that has what FILE names."
            })
    private @Nullable String dump;

    @Option(names = "--focus", paramLabel = "PATH", description = "With ir and asm: as /Code/aof.c/flush.")
    private List<String> focus = List.of();

    /// Stages that can be printed.
    private enum Stage {
        SUMMARY,
        AST,
        IR,
        ASM;

        static Stage of(@Nullable String name) {
            return switch (name) {
                case "ast" -> AST;
                case "ir" -> IR;
                case "asm" -> ASM;
                case null -> SUMMARY;
                default -> throw CommandFailure.usage("there is no stage " + name, "there are ast, ir and asm");
            };
        }
    }

    @Override
    public Integer call() throws IOException {
        Stage stage = Stage.of(dump);
        SourceFile source = source();
        Definitions library = MetricLibrary.load();
        Compilation compilation = Compilation.of(source, library);
        Console console = mdl.console();
        for (Diagnostic diagnostic : compilation.diagnostics()) {
            console.err().println(ForeignText.printableLines(diagnostic.format()));
        }
        if (!compilation.isCorrect()) {
            return CommandFailure.FAILED;
        }
        switch (stage) {
            case AST -> console.out().print(ForeignText.printableLines(SyntaxPrinter.print(compilation.tree())));
            case IR -> list(compilation.definitions(), library, MetricListing::ir);
            case ASM -> {
                Disassembler disassembler = new Disassembler(mdl.installation());
                list(compilation.definitions(), library, listing -> listing.asm(disassembler));
            }
            case SUMMARY ->
                console.out()
                        .println(
                                question == null
                                        ? ForeignText.printable(source.name()) + ": "
                                                + summary(compilation.definitions())
                                        : ForeignText.printableLines(
                                                source.text().stripTrailing()));
        }
        return 0;
    }

    private SourceFile source() throws IOException {
        if ((file == null) == (question == null)) {
            throw CommandFailure.usage("give one file or one question", "try: mdl compile my.mdl");
        }
        if (file != null) {
            return new SourceFile(file.toString(), RegularFile.text(file));
        }
        OneLiner read = LiveDefinitions.question(String.valueOf(question));
        return new SourceFile(read.name(), read.mdl());
    }

    private void list(Definitions defined, Definitions library, Function<MetricListing, String> stage) {
        Focus chosen = focus();
        ExampleProgram program = new ExampleProgram(defined, chosen);
        Evaluator evaluator = new Evaluator(library.with(defined), program);
        PrintStream out = mdl.console().out();
        for (Metric metric : defined.metrics().values()) {
            out.println("metric " + metric.id() + " @ " + chosen);
            switch (evaluator.evaluate(metric, chosen, 1)) {
                case Answer.Instance instance ->
                    out.print(ForeignText.printableLines(stage.apply(new MetricListing(CompiledMetric.of(instance)))));
                case Answer.Refused(String reason) -> out.println("    not measured: " + ForeignText.printable(reason));
            }
        }
        for (Symbol symbol : program.symbols()) {
            out.println("taken to be at 0x" + Long.toHexString(symbol.address()) + ": "
                    + ForeignText.printable(symbol.name()));
        }
    }

    private Focus focus() {
        try {
            return Focus.of(focus);
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage(String.valueOf(e.getMessage()), "as in --focus=/Code/aof.c");
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
