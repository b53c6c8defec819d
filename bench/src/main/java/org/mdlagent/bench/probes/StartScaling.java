package org.mdlagent.bench.probes;

import static java.lang.String.format;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.bench.report.CostCurves;
import org.mdlagent.bench.report.Machine;
import org.mdlagent.bench.report.Plot;
import org.mdlagent.bench.report.Report;
import org.mdlagent.bench.tools.Build;
import org.mdlagent.bench.tools.SourceTree;
import org.mdlagent.bench.tools.Tracer;
import org.mdlagent.profiler.report.session.SessionReader;

/// Cost of starting a program and of switching all its probes, by the number of probes and by the amount of text
/// without probes.
///
/// Programs are linked from copies of the same objects. main waits until all probes are in place.
public final class StartScaling {
    private static final int ROUNDS = Integer.getInteger("mdl.bench.rounds", 5);
    private static final List<Integer> PROBES = List.of(10, 100, 1_000, 10_000, 100_000);
    private static final List<Integer> MEBIBYTES = List.of(1, 4, 16, 64);

    /// Of an object, an entry and an exit for each of its functions.
    private static final int PROBES_MAX = 1_000;

    private static final int TOGGLES = 21;
    private static final long SETTLE_MILLIS = 100;

    private final Build build;
    private final Machine machine;
    private final NativeApi api;
    private final Path directory = SourceTree.scratch("start-scaling");
    private final Map<String, Tracer> tracers;
    private final CostCurves start =
            new CostCurves("Until main begins", Plot.Axis.logarithmic("probes"), Plot.Axis.logarithmic("ms"));
    private final CostCurves memory =
            new CostCurves("Memory of the process", Plot.Axis.logarithmic("probes"), Plot.Axis.logarithmic("MiB"));
    private final CostCurves text =
            new CostCurves("Until main begins, 1,000 probes", Plot.Axis.linear("MiB of text"), Plot.Axis.linear("ms"));
    private final CostCurves toggles =
            new CostCurves("All on or off by one call", Plot.Axis.logarithmic("probes"), Plot.Axis.logarithmic("ms"));

    private StartScaling(Build build, Machine machine, NativeApi api) throws IOException {
        this.build = build;
        this.machine = machine;
        this.api = api;
        tracers = Tracer.compared(build, "the agent, main waits for it");
    }

    /// @param args the [Build]
    public static void main(String[] args) throws IOException, InterruptedException {
        Build build = Build.valueOf(args[0]);
        NativeApi api = SourceTree.harness();
        StartScaling scaling = new StartScaling(build, Machine.of(api), api);
        scaling.measureStarts();
        scaling.measureToggles();
        try (Report report = new Report("scaling-start-" + build.name().toLowerCase(Locale.ROOT), scaling.machine)) {
            report.line(format(
                    Locale.ROOT,
                    "Programs compiled with %s, two probes in each function; medians of %d rounds, straight lines by least squares",
                    build,
                    ROUNDS));
            scaling.start.print(report, "time");
            scaling.memory.print(report, "memory");
            scaling.text.print(report, "text");
            scaling.toggles.print(report, "toggles");
            report.line("Published for Dyninst: 1,900,000 ticks for each probe that is toggled (PLDI 2016).");
        }
    }

    private void measureStarts() throws IOException, InterruptedException {
        Map<Integer, Path> programs = new LinkedHashMap<>();
        for (int probes : PROBES) {
            programs.put(probes, program("probes-" + probes, objects(probes)));
        }
        Map<Integer, Path> texts = new LinkedHashMap<>();
        String plain = Build.PLAIN
                .compile(directory.resolve("text.o"), List.of("-r", "-nostdlib"), List.of(SourceTree.source("text.S")))
                .toString();
        for (int mebibytes : MEBIBYTES) {
            List<String> objects = new ArrayList<>(objects(PROBES_MAX));
            objects.addAll(Collections.nCopies(mebibytes, plain));
            texts.put(mebibytes, program("text-" + mebibytes, objects));
        }
        for (int round = 0; round < ROUNDS; round++) {
            for (Map.Entry<String, Tracer> each : tracers.entrySet()) {
                for (Map.Entry<Integer, Path> program : programs.entrySet()) {
                    start(program.getValue(), program.getKey(), each.getKey(), each.getValue(), true);
                }
                for (Map.Entry<Integer, Path> program : texts.entrySet()) {
                    start(program.getValue(), program.getKey(), each.getKey(), each.getValue(), false);
                }
            }
        }
    }

    /// Links a program whose main has no probes.
    private Path program(String name, List<String> objects) throws IOException, InterruptedException {
        return Build.PLAIN.compile(
                directory.resolve(name),
                List.of("-O2", "-Wl," + String.join(",", objects)),
                List.of(SourceTree.source("calls.c")));
    }

    /// Relocatable objects with a given total number of probes.
    private List<String> objects(int probes) throws IOException, InterruptedException {
        int functions = Math.min(probes, PROBES_MAX) / 2;
        String text = IntStream.range(0, functions)
                .mapToObj(i ->
                        "__attribute__((used)) static uint64_t f_" + i + "(uint64_t x) { return x + " + i + "; }\n")
                .collect(Collectors.joining("", "#include <stdint.h>\n", ""));
        Path source = Files.writeString(directory.resolve("functions-" + functions + ".c"), text);
        Path object = build.compile(
                directory.resolve("functions-" + functions + ".o"),
                List.of("-O1", "-fPIC", "-r", "-nostdlib"),
                List.of(source));
        return Collections.nCopies(Math.max(1, probes / PROBES_MAX), object.toString());
    }

    private void start(Path program, int x, String who, Tracer tracer, boolean ofProbes)
            throws IOException, InterruptedException {
        Path run = SourceTree.scratch("run");
        ProcessBuilder builder = tracer.start(program, run);
        long begin = System.nanoTime();
        try (CallLoop loop = new CallLoop(builder)) {
            double millis = (System.nanoTime() - begin) / 1e6;
            (ofProbes ? start : text).add(who, x, millis);
            if (ofProbes && !(tracer instanceof Tracer.Uftrace)) {
                Thread.sleep(SETTLE_MILLIS);
                memory.add(who, x, loop.status("VmRSS:") / 1024.0);
            }
        }
        if (ofProbes && tracer instanceof Tracer.Agent) {
            requireProbes(run, x);
        }
    }

    /// Each function has one at least.
    private static void requireProbes(Path run, int probes) throws IOException {
        try (SessionReader reader = SessionReader.open(Tracer.Agent.session(run))) {
            int found = reader.sites().size();
            if (found < probes / 2) {
                throw new IOException(format(Locale.ROOT, "the agent has found %,d probes of %,d", found, probes));
            }
        }
    }

    private void measureToggles() throws IOException, InterruptedException {
        NativeLibrary unused = new NativeLibrary(build.compile(
                directory.resolve("libmany.so"),
                List.of("-O1", "-fPIC", "-shared", "-Wl," + String.join(",", objects(PROBES.getLast()))),
                List.of(SourceTree.source("drive.c"))));
        ProbedLibrary library = new ProbedLibrary(api);
        for (int i = 0; i < TOGGLES; i++) {
            for (int probes : PROBES) {
                long begin = api.tsc();
                library.togglePart((double) probes / PROBES.getLast(), i % 2 == 0);
                toggles.add("the agent", probes, (api.tsc() - begin) / machine.ticksPerNano() / 1e6);
            }
            library.toggleAll(i % 2 != 0);
        }
    }
}
