package org.mdlagent.runtime.cli.control;

import com.sun.jna.LastErrorException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Posix;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/// `mdl script`: runs a Java source file that measures programs by `org.mdlagent.client`. The runtime compiles it in
/// memory; this process becomes the script's.
@Command(
        name = "script",
        description = "Run a Java source file that measures programs. It needs no class: void main(String[] arguments)"
                + " is enough, with import org.mdlagent.client.*.",
        customSynopsis = "mdl script FILE.java ARGS...",
        footer = "Exit status: the script's; 1 if it does not compile or ends by an exception. docs/scripting.md has"
                + " examples.")
public final class ScriptCommand implements Callable<Integer> {
    private static final String SUFFIX = ".java";

    /// What classes of the client use, as in the launcher `mdl`.
    private static final List<String> JVM_OPTIONS = List.of(
            "-Xlog:disable",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:-UsePerfData",
            "--add-modules=org.mdlagent.runtime,com.sun.jna,HdrHistogram,org.tukaani.xz",
            "--enable-native-access=org.mdlagent.arch,com.sun.jna,ALL-UNNAMED",
            "--add-exports=java.base/jdk.internal.misc=org.mdlagent.arch",
            "-Djna.nounpack=true");

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandContext mdl;

    @Parameters(index = "0", paramLabel = "FILE.java", description = "The source file.")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String file;

    @Parameters(index = "1..*", arity = "0..*", paramLabel = "ARGS", description = "What its main gets.")
    private List<String> arguments = List.of();

    /// How many of the last words of the command line are the script's.
    public int scriptWords() {
        return arguments.size();
    }

    @Override
    public Integer call() throws IOException {
        if (!file.endsWith(SUFFIX)) {
            throw CommandFailure.usage(file + " is no Java source file", "mdl script FILE.java ARGS...");
        }
        if (!Files.isReadable(Path.of(file))) {
            throw CommandFailure.failed("there is no script " + file, "mdl script FILE.java ARGS...");
        }
        Path runtime = mdl.installation().runtime();
        List<byte[]> command = new ArrayList<>();
        command.add(Posix.bytes("mdl"));
        JVM_OPTIONS.forEach(option -> command.add(Posix.bytes(option)));
        command.add(Posix.bytes("-Djna.boot.library.path=" + runtime.resolve("lib")));
        command.add(Posix.bytes(file));
        command.addAll(Posix.ownArguments(arguments.size()));
        try {
            Posix.execute(runtime.resolve("bin/java"), command, Posix.ownEnvironment());
        } catch (LastErrorException e) {
            throw CommandFailure.failed(
                    "the script cannot be started: " + Posix.message(e.getErrorCode()), "is " + runtime + " complete?");
        }
        throw new IllegalStateException("execve has returned");
    }
}
