package org.mdlagent.runtime.cli.manual;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `mdl manual`: for packagers.
@Command(name = "manual", description = "Write manual pages, and completions for bash and zsh.", hidden = true)
public final class ManualCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Parameters(paramLabel = "DIR", description = "Into DIR/man1, DIR/bash and DIR/zsh.")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private Path directory;

    @Override
    public Integer call() throws Exception {
        CommandLine root = spec.root().commandLine();
        CommandText program = new CommandText(root);
        String version =
                String.join(" ", root.getCommandSpec().versionProvider().getVersion());
        Path pages = Files.createDirectories(directory.resolve("man1"));
        Files.writeString(pages.resolve("mdl.1"), ManualPage.ofProgram(program, version));
        for (CommandText command : program.commands()) {
            Files.writeString(pages.resolve("mdl-" + command.name() + ".1"), ManualPage.ofCommand(command, version));
        }
        Files.writeString(Files.createDirectories(directory.resolve("bash")).resolve("mdl"), Completion.bash(program));
        Files.writeString(Files.createDirectories(directory.resolve("zsh")).resolve("_mdl"), Completion.zsh(program));
        return 0;
    }
}
