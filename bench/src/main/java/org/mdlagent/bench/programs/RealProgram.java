package org.mdlagent.bench.programs;

import static java.lang.String.format;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.mdlagent.bench.tools.Build;
import org.mdlagent.bench.tools.SourceTree;

/// Debian programs, and two of the kind that the papers measure, each with some ten seconds of work.
enum RealProgram {
    BZIP2("bzip2", "-9", "-c"),
    GZIP("gzip", "-9", "-c"),
    /// Compiles a large source again and again.
    TCC("tcc", "-c"),
    /// Solves a minimum-cost flow problem by the simplex method.
    GLPK("glpk", "--mincost", "/dev/stdin"),
    ZSTD("libzstd", "-q", "-12", "--single-thread", "-c"),
    LUA("lua5.4", "work.lua", "600"),
    PERL("perl", "work.pl", "700"),
    SQLITE("sqlite3", ":memory:"),
    NBODY(null, "120000000"),
    HULL(null, "500");

    private static final int COPIES_OF_TEXT = 14;
    private static final int ROUNDS_OF_SQL = 5;
    private static final int COMPILATIONS = 60;
    private static final int NODES = 6_000;
    private static final int ARCS_OF_NODE = 6;

    private final @Nullable String source;
    private final List<String> arguments;

    /// @param source Debian's source package; null for a program of one file, which has this one's name
    RealProgram(@Nullable String source, String... arguments) {
        this.source = source;
        this.arguments = List.of(arguments);
    }

    /// @throws IllegalArgumentException if there is none with this name
    static List<RealProgram> named(String[] names) {
        return Arrays.stream(names).map(RealProgram::named).toList();
    }

    private static RealProgram named(String name) {
        return Arrays.stream(values())
                .filter(program -> program.toString().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "there is no program " + name + "; there are " + Arrays.toString(values())));
    }

    /// The command for the work.
    List<String> command(Build build) throws IOException, InterruptedException {
        return command(build, 1);
    }

    /// The command for a multiple of the work, if an argument controls the amount; otherwise the input does.
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
        if (this == TCC) {
            command.add(1, "-B" + SourceTree.debianSources("tcc"));
            command.addAll(Collections.nCopies(atLeastOne(COMPILATIONS * times), text().toString()));
        }
        return command;
    }

    private static Path text() throws IOException, InterruptedException {
        return SourceTree.debianSources("sqlite3").resolve("sqlite3.c");
    }

    private static int atLeastOne(double count) {
        return (int) Math.max(1, Math.round(count));
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

    /// Standard input for a multiple or a fraction of the work.
    Path input(Path directory, double times) throws IOException, InterruptedException {
        Path input = directory.resolve(this + "-" + times + ".input");
        if (Files.exists(input)) {
            return input;
        }
        return switch (this) {
            case BZIP2, GZIP, ZSTD -> repeat(text(), COPIES_OF_TEXT * times, input);
            case GLPK -> Files.writeString(input, flowProblem((int) (NODES * Math.sqrt(times))));
            case SQLITE ->
                Files.writeString(
                        input,
                        String.join(
                                "",
                                Collections.nCopies(
                                        atLeastOne(ROUNDS_OF_SQL * times),
                                        ".open :memory:\n" + Files.readString(SourceTree.sql()))));
            default -> Files.createFile(input);
        };
    }

    private static Path repeat(Path text, double copies, Path output) throws IOException {
        byte[] bytes = Files.readAllBytes(text);
        try (OutputStream stream = Files.newOutputStream(output)) {
            for (long left = Math.round(bytes.length * copies); left > 0; left -= bytes.length) {
                stream.write(bytes, 0, (int) Math.min(left, bytes.length));
            }
        }
        return output;
    }

    /// A network from the first node to the last in DIMACS format: expensive arcs between neighbours guarantee a
    /// path, and cheaper arcs skip nodes.
    private static String flowProblem(int nodes) {
        Random random = new Random(1);
        int arcs = ARCS_OF_NODE * nodes;
        StringBuilder problem = new StringBuilder(
                format("p min %d %d\nn 1 %d\nn %d %d\n", nodes, arcs + nodes - 1, nodes, nodes, -nodes));
        for (int from = 1; from < nodes; from++) {
            problem.append(arc(from, from + 1, nodes, 1000));
        }
        for (int i = 0; i < arcs; i++) {
            int from = random.nextInt(1, nodes);
            int to = Math.min(nodes, from + random.nextInt(1, 51));
            problem.append(arc(from, to, random.nextInt(1, 20), random.nextInt(1, 1000)));
        }
        return problem.toString();
    }

    private static String arc(int from, int to, int capacity, int cost) {
        return format("a %d %d 0 %d %d\n", from, to, capacity, cost);
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
