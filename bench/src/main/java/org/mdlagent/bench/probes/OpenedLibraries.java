package org.mdlagent.bench.probes;

import static java.lang.String.format;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.mdlagent.bench.report.Machine;
import org.mdlagent.bench.report.Percentile;
import org.mdlagent.bench.report.Progress;
import org.mdlagent.bench.report.Report;
import org.mdlagent.bench.report.Target;
import org.mdlagent.bench.tools.Build;
import org.mdlagent.bench.tools.SourceTree;
import org.mdlagent.bench.tools.Tracer;
import org.mdlagent.profiler.report.session.SessionReader;

/// Cost of making a probe in code without compiler support at run time: the program opens stripped libraries of a
/// thousand functions, and waits each time until they have their probes.
public final class OpenedLibraries {
    private static final int ROUNDS = Integer.getInteger("mdl.bench.rounds", 5);
    private static final int FUNCTIONS = 1_000;

    /// The first ones are opened before the agent's code is compiled.
    private static final int LIBRARIES = 40;

    private static final int WARM = 30;

    private static final String OPTIONS = "exact,libraryFunctions=100000,include=libopened*!*";

    private OpenedLibraries() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        Machine machine = Machine.of(SourceTree.harness());
        Path directory = SourceTree.scratch("opened");
        List<String> libraries = libraries(directory);
        Path program =
                Build.PLAIN.compile(directory.resolve("open"), List.of("-O2"), List.of(SourceTree.source("open.c")));
        double[] first = new double[ROUNDS];
        double[] late = new double[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            Progress.round(round, ROUNDS);
            double[] alone = ticks(program, libraries, new Tracer.None());
            double[] under = ticks(program, libraries, new Tracer.Agent(OPTIONS, true));
            first[round] = micros(under[0] - alone[0], machine);
            late[round] = micros(
                    Percentile.median(Arrays.copyOfRange(under, WARM, LIBRARIES))
                            - Percentile.median(Arrays.copyOfRange(alone, WARM, LIBRARIES)),
                    machine);
        }
        try (Report report = new Report("opened", machine)) {
            report.line(format(
                    Locale.ROOT,
                    "A program opens %d stripped libraries of %,d functions each, with and without the agent; %d rounds",
                    LIBRARIES,
                    FUNCTIONS,
                    ROUNDS));
            report.heading("MICROSECONDS FOR EACH FUNCTION, ITS ENTRY AND EXIT");
            report.row("the first library: code of the agent is interpreted", first);
            report.row(
                    "those from the " + WARM + "th on: it is compiled",
                    late,
                    Target.BARE_ON_DEMAND,
                    "libraries that are opened late",
                    "");
        }
    }

    private static double micros(double ticks, Machine machine) {
        return ticks / FUNCTIONS / machine.ticksPerNano() / 1e3;
    }

    /// Copies of one library under different names.
    private static List<String> libraries(Path directory) throws IOException, InterruptedException {
        String text = IntStream.range(0, FUNCTIONS)
                .mapToObj(i -> "uint64_t calls_%d;\nuint64_t f_%d(uint64_t x) { return x * %d + ++calls_%d; }\n"
                        .formatted(i, i, i + 3, i))
                .collect(Collectors.joining("", "#include <stdint.h>\n", ""));
        Path source = Files.writeString(directory.resolve("opened.c"), text);
        Path library = Build.PLAIN.compile(
                directory.resolve("libopened.so"), List.of("-O2", "-fPIC", "-shared", "-s"), List.of(source));
        List<String> libraries = new ArrayList<>();
        for (int i = 0; i < LIBRARIES; i++) {
            libraries.add(Files.copy(library, directory.resolve("libopened" + i + ".so"))
                    .toString());
        }
        return libraries;
    }

    private static double[] ticks(Path program, List<String> libraries, Tracer tracer)
            throws IOException, InterruptedException {
        Path directory = SourceTree.scratch("run");
        ProcessBuilder builder = tracer.start(program, directory);
        builder.command().addAll(libraries);
        Process process = builder.start();
        try (var input = process.outputWriter();
                var output = process.inputReader()) {
            if (!"ready".equals(output.readLine())) {
                throw new IOException("the program does not start");
            }
            input.write('\n');
            input.flush();
            double[] ticks = output.lines().mapToDouble(Double::parseDouble).toArray();
            if (process.waitFor() != 0 || ticks.length != libraries.size()) {
                throw new IOException("the program has not opened all libraries");
            }
            if (tracer instanceof Tracer.Agent) {
                requireProbes(directory, libraries.size() * FUNCTIONS);
            }
            return ticks;
        }
    }

    /// Each function has two.
    private static void requireProbes(Path run, int functions) throws IOException {
        try (SessionReader reader = SessionReader.open(Tracer.Agent.session(run))) {
            int found = reader.sites().size();
            if (found < 2 * functions) {
                throw new IOException(
                        format(Locale.ROOT, "the agent has %,d probes of %,d functions", found, functions));
            }
        }
    }
}
