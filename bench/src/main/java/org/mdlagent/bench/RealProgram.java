package org.mdlagent.bench;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Programs of Debian's, and two of the kind that the papers measure, each with work of some ten seconds.
enum RealProgram {
    BZIP2("bzip2", "-9", "-c"),
    ZSTD("libzstd", "-q", "-12", "--single-thread", "-c"),
    LUA("lua5.4", "work.lua", "600"),
    PERL("perl", "work.pl", "700"),
    SQLITE("sqlite3", ":memory:"),
    NBODY(null, "120000000"),
    HULL(null, "500");

    private static final int COPIES_OF_TEXT = 14;
    private static final int ROUNDS_OF_SQL = 5;

    private final @Nullable String source;
    private final List<String> arguments;

    /// @param source Debian's source package; null for a program of one file, which has this one's name
    RealProgram(@Nullable String source, String... arguments) {
        this.source = source;
        this.arguments = List.of(arguments);
    }

    /// @param names of programs, none for all
    /// @throws IllegalArgumentException when there is none of such a name
    static List<RealProgram> named(String[] names) {
        return names.length == 0
                ? List.of(values())
                : Arrays.stream(names).map(RealProgram::named).toList();
    }

    private static RealProgram named(String name) {
        return Arrays.stream(values())
                .filter(program -> program.toString().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "there is no program " + name + "; there are " + Arrays.toString(values())));
    }

    /// The command that does the work.
    List<String> command(Build build) throws IOException, InterruptedException {
        return command(build, 1);
    }

    /// The command that does more of it or less, if it is told how much to do; else that is up to the input.
    List<String> command(Build build, double times) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(executable(build).toString()));
        for (String argument : arguments) {
            command.add(
                    argument.startsWith("work.")
                            ? SourceTree.work(argument).toString()
                            : argument.matches("[0-9]+")
                                    ? Long.toString(Math.round(Long.parseLong(argument) * times))
                                    : argument);
        }
        return command;
    }

    private Path executable(Build build) throws IOException, InterruptedException {
        if (source != null) {
            return SourceTree.debian(source, build);
        }
        Path output = SourceTree.scratch("real-" + this + "-" + build.name().toLowerCase(Locale.ROOT))
                .resolve(toString());
        return build.compile(output, List.of("-O2", "-g", "-lm"), List.of(SourceTree.work(this + ".c")));
    }

    /// Standard input, the same in each run.
    Path input(Path directory) throws IOException, InterruptedException {
        return input(directory, 1);
    }

    /// Standard input for so many times the work.
    Path input(Path directory, int times) throws IOException, InterruptedException {
        Path input = directory.resolve(this + "-" + times + ".input");
        if (Files.exists(input)) {
            return input;
        }
        return switch (this) {
            case BZIP2, ZSTD ->
                repeat(SourceTree.debianSources("sqlite3").resolve("sqlite3.c"), COPIES_OF_TEXT * times, input);
            case SQLITE ->
                Files.writeString(
                        input,
                        String.join(
                                "",
                                Collections.nCopies(
                                        ROUNDS_OF_SQL * times,
                                        ".open :memory:\n" + Files.readString(SourceTree.sql()))));
            default -> Files.createFile(input);
        };
    }

    private static Path repeat(Path text, int copies, Path output) throws IOException {
        try (OutputStream stream = Files.newOutputStream(output)) {
            for (int i = 0; i < copies; i++) {
                Files.copy(text, stream);
            }
        }
        return output;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
