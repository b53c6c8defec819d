package org.mdlagent.bench.probes;

import static java.lang.String.format;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.bench.report.Machine;
import org.mdlagent.bench.report.Percentile;
import org.mdlagent.bench.report.Progress;
import org.mdlagent.bench.report.Report;
import org.mdlagent.bench.report.Target;
import org.mdlagent.bench.tools.Build;
import org.mdlagent.bench.tools.SourceTree;
import org.mdlagent.bench.tools.Tracer;

/// Cost of 20,000 probes: entry and exit of 10,000 generated functions.
///
/// Set-up time and memory are measured in programs under the agent: a program linked with these functions minus a
/// program linked with one function. Toggling is measured in this process.
public final class ManyProbes {
    private static final int FUNCTIONS = 10_000;
    private static final int FUNCTIONS_PER_FILE = 2_500;

    private static final int STARTS = Integer.getInteger("mdl.bench.rounds", 11);
    private static final int TOGGLES = 101;
    private static final int FLIPS = 2_000_000;
    private static final int CALLS_MAX = 2;
    private static final long SEED = 4;
    private static final long SETTLE_MILLIS = 300;
    private static final String IN_PLACE = "ticks until it is in place";
    private static final String EXACT = "wait,exact";

    /// Minimum time of a part that gets a line.
    private static final double TICKS_MIN = 100;

    private static final Path SELF = Path.of("/proc/self");

    private final Build build;
    private final Machine machine;
    private final NativeApi api;
    private final Report report;
    private final Path directory = SourceTree.scratch("many");

    /// A started program.
    ///
    /// @param armedTicks from the agent's constructor until the probes were in place; 0 without agent
    /// @param session    bytes of the session that are in use
    /// @param code       bytes of remapped or added code
    /// @param resident   bytes of memory, all in all
    private record Start(long armedTicks, long session, long code, long resident) {}

    private ManyProbes(Build build, Machine machine, NativeApi api, Report report) throws IOException {
        this.build = build;
        this.machine = machine;
        this.api = api;
        this.report = report;
    }

    /// @param args the [Build]
    public static void main(String[] args) throws IOException, InterruptedException {
        Build build = Build.valueOf(args[0]);
        NativeApi api = SourceTree.harness();
        Machine machine = Machine.of(api);
        try (Report report = new Report("many-" + build.name().toLowerCase(Locale.ROOT), machine)) {
            ManyProbes many = new ManyProbes(build, machine, api, report);
            Path library = many.library("many", FUNCTIONS);
            Path unused = many.library("one", 1);
            many.measureStarts();
            many.measureToggles(library);
        }
    }

    private Path library(String name, int functions) throws IOException, InterruptedException {
        // Unaligned, so that sites are at every offset.
        return build.compile(
                directory.resolve("lib" + name + ".so"),
                List.of("-O1", "-fPIC", "-shared"),
                sources("drive.c", name, functions));
    }

    /// The functions and their caller.
    private List<Path> sources(String driver, String name, int functions) throws IOException {
        List<Path> sources = new ArrayList<>(List.of(SourceTree.source(driver)));
        for (int first = 0; first < functions; first += FUNCTIONS_PER_FILE) {
            StringBuilder text = new StringBuilder("#include <stdint.h>\n");
            for (int i = first; i < Math.min(functions, first + FUNCTIONS_PER_FILE); i++) {
                // One variable each, in which the program counts its calls.
                text.append("uint64_t calls_").append(i).append(";\n");
                text.append("uint64_t f_")
                        .append(i)
                        .append("(uint64_t x) { return x + ++calls_")
                        .append(i)
                        .append("; }\n");
            }
            sources.add(Files.writeString(directory.resolve(name + "-" + first + ".c"), text));
        }
        return sources;
    }

    private void measureStarts() throws IOException, InterruptedException {
        Path programOfMany = program("many");
        Path programOfOne = program("one");
        double[] ticks = new double[STARTS];
        double[] resident = new double[STARTS];
        double[] session = new double[STARTS];
        double[] code = new double[STARTS];
        int probes = 2 * (FUNCTIONS - 1);
        for (int i = 0; i < STARTS; i++) {
            Progress.round(i, STARTS);
            Start of = start(programOfMany, true);
            Start less = start(programOfOne, true);
            long own = start(programOfMany, false).resident - start(programOfOne, false).resident;
            ticks[i] = (double) (of.armedTicks - less.armedTicks) / probes;
            resident[i] = (double) (of.resident - less.resident - own) / probes;
            session[i] = (double) (of.session - less.session) / probes;
            code[i] = (double) (of.code - less.code) / probes;
        }
        report.line(format(
                Locale.ROOT,
                "%,d probes in %,d functions, compiled with %s; %d starts",
                2 * FUNCTIONS,
                FUNCTIONS,
                build,
                STARTS));
        report.heading("EACH PROBE");
        row(IN_PLACE, ticks, Target.INITIALISATION, "");
        report.row("bytes of memory, all in all", resident);
        report.row("bytes of the session", session);
        report.row("bytes of code, program text made anew included", code);
        if (CpuProfile.isPossible()) {
            takeApart(programOfMany, programOfOne, probes);
        }
    }

    /// CPU time of all threads: with enough processors the compiler runs in parallel.
    private void takeApart(Path programOfMany, Path programOfOne, int probes) throws IOException, InterruptedException {
        Map<String, Double> seconds = CpuProfile.seconds(programOfMany, SourceTree.scratch("profile"), EXACT);
        Map<String, Double> less = CpuProfile.seconds(programOfOne, SourceTree.scratch("profile"), EXACT);
        seconds.forEach((where, of) -> {
            double ticks = (of - less.getOrDefault(where, 0.0)) * 1e9 * machine.ticksPerNano() / probes;
            if (ticks > TICKS_MIN) {
                report.part(Target.INITIALISATION, IN_PLACE + ", " + build, "CPU time: " + where, ticks);
            }
        });
    }

    /// A program linked with a library that it does not call.
    private Path program(String name) throws IOException, InterruptedException {
        return Build.PLAIN.compile(
                directory.resolve(name),
                List.of("-O2", "-Wl,--no-as-needed,-rpath," + directory, "-L" + directory, "-l" + name),
                List.of(SourceTree.source("calls.c")));
    }

    private static Start start(Path program, boolean agent) throws IOException, InterruptedException {
        Path directory = SourceTree.scratch("run");
        Tracer tracer = agent ? new Tracer.Agent("exact", true) : new Tracer.None();
        ProcessBuilder builder = tracer.start(program, directory);
        try (CallLoop loop = new CallLoop(builder)) {
            // The agent continues to read line tables.
            Thread.sleep(SETTLE_MILLIS);
            Path process = Path.of("/proc", Long.toString(loop.pid()));
            long resident = loop.status("VmRSS:") * 1024;
            if (!agent) {
                return new Start(0, 0, 0, resident);
            }
            ByteBuffer header = Tracer.Agent.header(directory);
            return new Start(
                    Tracer.Agent.armedTicks(header),
                    header.getLong((int) HeaderDescriptor.ARENA_NEXT),
                    codeBytes(process),
                    resident);
        }
    }

    /// Bytes of executable memory that the agent has mapped.
    private static long codeBytes(Path process) throws IOException {
        long bytes = 0;
        for (String line : Files.readAllLines(process.resolve("maps"))) {
            String[] range = line.split("[- ]", 3);
            if (line.contains(" r-xp ") && line.contains("/memfd:")) {
                bytes += Long.parseLong(range[1], 16) - Long.parseLong(range[0], 16);
            }
        }
        return bytes;
    }

    private void row(String what, double[] values, Target target, String peers) {
        report.row(what, values, target, what + ", " + build, peers);
    }

    private void measureToggles(Path path) throws IOException, InterruptedException {
        NativeLibrary library = new NativeLibrary(path);
        ProbedLibrary probes = new ProbedLibrary(api);
        long[] functions = new long[FUNCTIONS];
        for (int i = 0; i < FUNCTIONS; i++) {
            functions[i] = library.address("f_" + i);
        }
        double[] byXRay = Build.XRAY.compiler() == null ? new double[0] : toggleByXRay();
        String peers = byXRay.length == 0 ? "" : Report.peer("XRay", Percentile.median(byXRay));
        report.heading("MILLISECONDS");
        row(
                format(Locale.ROOT, "all %,d on or off by one call", probes.probeCount()),
                toggleAll(probes),
                Target.TOGGLE_ALL,
                peers);
        Load load = new Load(api, library, 1, functions);
        row("the same while a thread calls them all", toggleAll(probes), Target.TOGGLE_ALL, peers);
        load.stop();
        if (byXRay.length == 0) {
            report.line("XRay's of as many functions: absent: there is no clang");
        } else {
            report.row("XRay's of as many functions, on or off by one call", byXRay);
        }
        probes.awaitDetached();
        flip(library, probes, functions);
    }

    private double[] toggleAll(ProbedLibrary probes) {
        double[] millis = new double[TOGGLES];
        for (int i = 0; i < TOGGLES; i++) {
            long start = api.tsc();
            probes.toggleAll(i % 2 == 0);
            millis[i] = (api.tsc() - start) / machine.ticksPerNano() / 1e6;
        }
        probes.toggleAll(false);
        return millis;
    }

    private double[] toggleByXRay() throws IOException, InterruptedException {
        Path program =
                Build.XRAY.compile(directory.resolve("xray"), List.of("-O1"), sources("xray.c", "xray", FUNCTIONS));
        Process process = new ProcessBuilder(program.toString(), Integer.toString(TOGGLES)).start();
        double[] ticks =
                process.inputReader().lines().mapToDouble(Double::parseDouble).toArray();
        // The first value is the number of functions.
        if (process.waitFor() != 0 || ticks.length != 1 + TOGGLES || ticks[0] < FUNCTIONS) {
            throw new IOException(program + " has patched nothing");
        }
        return Arrays.stream(ticks)
                .skip(1)
                .map(each -> each / machine.ticksPerNano() / 1e6)
                .toArray();
    }

    /// Switches functions on and off at random, then calls each up to [#CALLS_MAX] times, and compares the counts
    /// with the calls made while it was on.
    private void flip(NativeLibrary library, ProbedLibrary probes, long[] functions) throws IOException {
        int[] indices = Arrays.stream(functions).mapToInt(probes::function).toArray();
        long call = library.address("call");
        long[] before = probes.calls();
        ProbedLibrary.Tally tallyBefore = probes.tally();
        long codeBefore = codeBytes(SELF);
        long sessionBefore = probes.sessionBytes();
        boolean[] on = new boolean[FUNCTIONS];
        long[] expected = new long[FUNCTIONS];
        SplittableRandom random = new SplittableRandom(SEED);
        long sessionHalfway = 0;
        for (int i = 0; i < FLIPS; i++) {
            int function = random.nextInt(FUNCTIONS);
            int calls = random.nextInt(CALLS_MAX + 1);
            on[function] = !on[function];
            probes.toggle(indices[function], on[function]);
            long unused = NativeLibrary.call(call, functions[function], calls);
            expected[function] += on[function] ? calls : 0;
            if (i == FLIPS / 2) {
                sessionHalfway = probes.sessionBytes();
            }
        }
        long[] counted = probes.calls();
        ProbedLibrary.Tally tally = probes.tally().minus(tallyBefore);
        int wrong = 0;
        for (int i = 0; i < FUNCTIONS; i++) {
            wrong += counted[indices[i]] - before[indices[i]] == expected[i] ? 0 : 1;
        }
        report.line(format(
                Locale.ROOT,
                "%,d random switches of functions, on or off: %,d calls counted of %,d, %d functions wrong, %,d not timed",
                FLIPS,
                tally.calls(),
                Arrays.stream(expected).sum(),
                wrong,
                tally.calls() - tally.returns()));
        report.line(format(
                Locale.ROOT,
                "  code grew by %,d bytes; the session, which gets histograms, by %,d in the first half and %,d in the second",
                codeBytes(SELF) - codeBefore,
                sessionHalfway - sessionBefore,
                probes.sessionBytes() - sessionHalfway));
        if (wrong > 0 || tally.calls() != tally.returns()) {
            throw new IllegalStateException("the counts are wrong");
        }
    }
}
