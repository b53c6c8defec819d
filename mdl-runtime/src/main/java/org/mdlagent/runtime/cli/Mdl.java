package org.mdlagent.runtime.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.lang.module.ModuleDescriptor;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.Callable;
import org.mdlagent.runtime.cli.compare.DiffCommand;
import org.mdlagent.runtime.cli.context.CommandContext;
import org.mdlagent.runtime.cli.context.Installation;
import org.mdlagent.runtime.cli.control.CompileCommand;
import org.mdlagent.runtime.cli.control.DetachCommand;
import org.mdlagent.runtime.cli.control.DisableCommand;
import org.mdlagent.runtime.cli.control.EnableCommand;
import org.mdlagent.runtime.cli.control.ListCommand;
import org.mdlagent.runtime.cli.control.PointsCommand;
import org.mdlagent.runtime.cli.control.ScriptCommand;
import org.mdlagent.runtime.cli.live.ServeCommand;
import org.mdlagent.runtime.cli.live.TopCommand;
import org.mdlagent.runtime.cli.live.WatchCommand;
import org.mdlagent.runtime.cli.manual.ManualCommand;
import org.mdlagent.runtime.cli.report.HistoryCommand;
import org.mdlagent.runtime.cli.report.OpenCommand;
import org.mdlagent.runtime.cli.report.ReportCommand;
import org.mdlagent.runtime.cli.report.SnapshotCommand;
import org.mdlagent.runtime.cli.run.AttachCommand;
import org.mdlagent.runtime.cli.run.Attachment;
import org.mdlagent.runtime.cli.run.ChildProcess;
import org.mdlagent.runtime.cli.run.CollectCommand;
import org.mdlagent.runtime.cli.run.DoctorCommand;
import org.mdlagent.runtime.cli.run.MeasureOptions;
import org.mdlagent.runtime.cli.run.PrepareCommand;
import org.mdlagent.runtime.cli.run.RunCommand;
import org.mdlagent.runtime.cli.session.SessionStore;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Console;
import org.mdlagent.runtime.cli.terminal.Posix;
import org.mdlagent.runtime.mdl.syntax.Spelling;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/// The `mdl` command.
@Command(
        name = "mdl",
        description = "Latency profiles of native programs, always on.",
        mixinStandardHelpOptions = true,
        versionProvider = Mdl.Version.class)
public final class Mdl implements Callable<Integer>, CommandContext {
    private static final char UNREADABLE = '\uFFFD';

    /// First words of commands that other tools use to look at a running process.
    private static final Set<String> ATTACHING = Set.of("record", "-p", "--pid");

    private static final String LATE_START = "for a running program: mdl attach PID; then mdl top PID";

    /// In the order of `--help`. Names follow from classes: `mdl run` is [RunCommand].
    private static final List<Class<?>> COMMANDS = List.of(
            RunCommand.class,
            AttachCommand.class,
            DetachCommand.class,
            CollectCommand.class,
            ScriptCommand.class,
            ReportCommand.class,
            OpenCommand.class,
            SnapshotCommand.class,
            HistoryCommand.class,
            DiffCommand.class,
            ListCommand.class,
            TopCommand.class,
            ServeCommand.class,
            EnableCommand.class,
            DisableCommand.class,
            WatchCommand.class,
            PointsCommand.class,
            DoctorCommand.class,
            PrepareCommand.class,
            CompileCommand.class,
            ManualCommand.class);

    private final Console console;
    private final SessionStore store;
    private final Installation installation;

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    public Mdl(Console console, SessionStore store, Installation installation) {
        this.console = console;
        this.store = store;
        this.installation = installation;
    }

    public static void main(String[] arguments) {
        ChildProcess.noteDescriptors();
        Posix.keepOwnersRights();
        Console console = Console.ofProcess();
        Mdl mdl = new Mdl(console, SessionStore.ofUser(System.getenv(), console), Installation.ofProcess());
        System.exit(mdl.execute(arguments));
    }

    /// Runs a command; returns the exit status.
    public int execute(String... arguments) {
        return parser(arguments).execute(arguments);
    }

    /// The parser of these arguments. If the first one names a command, the parser knows only that command:
    /// reading the options of all would take longer than most commands.
    public CommandLine parser(String... arguments) {
        CommandLine commandLine = new CommandLine(this);
        Optional<Class<?>> named = arguments.length == 0 ? Optional.empty() : command(arguments[0]);
        if (named.isPresent()) {
            commandLine.addSubcommand(named.get());
        } else {
            COMMANDS.forEach(commandLine::addSubcommand);
            addProvided(commandLine);
            commandLine.addSubcommand(new CommandLine.HelpCommand());
        }
        commandLine
                .setOut(new PrintWriter(console.out(), true, StandardCharsets.UTF_8))
                .setErr(new PrintWriter(console.err(), true, StandardCharsets.UTF_8))
                .setExecutionStrategy(this::run)
                .setParameterExceptionHandler(this::misused)
                .setExecutionExceptionHandler(this::failed);
        for (CommandLine command : commandLine.getSubcommands().values()) {
            if (!(command.getCommand() instanceof CommandLine.HelpCommand)) {
                MeasureOptions.addTo(command.getCommandSpec());
                command.getCommandSpec().mixinStandardHelpOptions(true);
            }
        }
        // Words after PROGRAM belong to the program, and those after FILE.java to the script.
        commandLine
                .getSubcommands()
                .forEach((name, command) -> command.setStopAtPositional(name.equals("run") || name.equals("script")));
        commandLine.setExpandAtFiles(false);
        return commandLine;
    }

    /// The command with that name, except commands that list the others.
    private static Optional<Class<?>> command(String name) {
        return COMMANDS.stream()
                .filter(command -> command != ManualCommand.class
                        && command.getSimpleName()
                                .replace("Command", "")
                                .toLowerCase(Locale.ROOT)
                                .equals(name))
                .findFirst();
    }

    /// Runs a command whose arguments were parsed. Arguments that are not text in the locale's encoding are
    /// refused: the JVM replaces their bytes by U+FFFD, which would name another file.
    private int run(CommandLine.ParseResult parsed) {
        List<String> words = parsed.originalArgs();
        for (String word : words.subList(0, words.size() - programWords(parsed))) {
            if (word.indexOf(UNREADABLE) >= 0) {
                console.say(
                        "the argument " + word + " is not text in the locale's encoding",
                        "for UTF-8, set LC_ALL=C.UTF-8; rename files whose names are in another encoding");
                return CommandFailure.USAGE;
            }
        }
        return new CommandLine.RunLast().execute(parsed);
    }

    /// The program's own arguments are passed on as bytes.
    private static int programWords(CommandLine.ParseResult parsed) {
        Object command =
                parsed.hasSubcommand() ? parsed.subcommand().commandSpec().userObject() : null;
        return switch (command) {
            case RunCommand run -> run.programWords();
            case CollectCommand collect -> collect.programWords();
            case DiffCommand diff -> diff.programWords();
            case ScriptCommand script -> script.scriptWords();
            case null, default -> 0;
        };
    }

    /// Adds the commands of modules that no module requires. They are `Callable`s, like all picocli commands.
    private static void addProvided(CommandLine commandLine) {
        // Not in the module descriptor: that would load these modules and their libraries in target processes
        // as well.
        Mdl.class.getModule().addUses(Callable.class);
        for (Object command : ServiceLoader.load(Callable.class)) {
            commandLine.addSubcommand(command);
        }
    }

    @Override
    public Console console() {
        return console;
    }

    @Override
    public SessionStore store() {
        return store;
    }

    @Override
    public Installation installation() {
        return installation;
    }

    @Override
    public boolean attach(int pid) throws IOException {
        return new Attachment(this, pid, console.err()).attachUnlessPresent();
    }

    /// Without a command, lists the commands.
    @Override
    public Integer call() {
        spec.commandLine().usage(console.err());
        return CommandFailure.USAGE;
    }

    private int misused(ParameterException e, String[] arguments) {
        boolean isOwn = e.getCommandLine().getCommand() == this;
        if (isOwn && e instanceof UnmatchedArgumentException unknown) {
            String word = unknown.getUnmatched().getFirst();
            if (!word.startsWith("-")) {
                console.say("there is no command " + word, remedy(word, arguments, e.getCommandLine()));
                return CommandFailure.USAGE;
            }
        }
        if (e instanceof UnmatchedArgumentException unknown
                && ATTACHING.contains(unknown.getUnmatched().getFirst())) {
            console.say(describe(e), LATE_START);
            return CommandFailure.USAGE;
        }
        console.say(describe(e), "try: " + e.getCommandLine().getCommandSpec().qualifiedName() + " --help");
        return CommandFailure.USAGE;
    }

    private static String remedy(String word, String[] arguments, CommandLine commandLine) {
        if (ATTACHING.contains(word)) {
            return LATE_START;
        }
        if (word.indexOf('/') >= 0) {
            return "to run a program: mdl run -- " + String.join(" ", arguments);
        }
        String hint = Spelling.hint(word, commandLine.getSubcommands().keySet());
        return hint == null ? "try: mdl --help" : hint;
    }

    private int failed(Exception e, CommandLine command, CommandLine.ParseResult parsed) throws Exception {
        switch (e) {
            case CommandFailure failure -> {
                console.say(describe(failure), failure.remedy());
                return failure.status();
            }
            case IOException failure -> console.say(describe(failure), null);
            case UncheckedIOException failure -> console.say(describe(failure), null);
            case InvalidPathException failure -> console.say(describe(failure), null);
            default -> throw e;
        }
        return CommandFailure.FAILED;
    }

    /// The messages of file system exceptions contain only a path.
    private static String describe(Exception e) {
        String message = String.valueOf(e.getMessage());
        return switch (e) {
            case AccessDeniedException denied -> "no permission: " + message;
            case NoSuchFileException missing -> "there is no " + message;
            default -> message;
        };
    }

    /// The version of the module, "development" when run from class files.
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            Optional<ModuleDescriptor> module =
                    Optional.ofNullable(Mdl.class.getModule().getDescriptor());
            return new String[] {
                "mdl " + module.flatMap(ModuleDescriptor::rawVersion).orElse("development")
            };
        }
    }
}
