package org.mdlagent.bench.probes;

import static java.lang.String.format;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.snippet.Expression.Constant;
import org.mdlagent.arch.snippet.Snippet;
import org.mdlagent.arch.snippet.Statement.Add;
import org.mdlagent.bench.report.CostCurves;
import org.mdlagent.bench.report.Machine;
import org.mdlagent.bench.report.Percentile;
import org.mdlagent.bench.report.Plot;
import org.mdlagent.bench.report.Report;
import org.mdlagent.bench.tools.Build;
import org.mdlagent.bench.tools.SourceTree;
import org.mdlagent.fastinst.snippet.Snippets;

/// Cost of a call by the number of threads, and by the number of snippets at its probe.
public final class CallScaling {
    private static final int ROUNDS = Integer.getInteger("mdl.bench.rounds", 7);
    private static final List<Integer> THREADS = List.of(1, 2, 3, 4, 6, 8);
    private static final List<Integer> SNIPPETS = List.of(1, 2, 4, 8, 16, 32, 64);
    private static final long WARM_UP_NANOS = 20_000_000;
    private static final long MEASURED_NANOS = 100_000_000;
    private static final int REPEATS = 15;
    private static final int CALLS = 10_000;

    private final NativeApi api;
    private final Machine machine;
    private final NativeLibrary library;
    private final ProbedLibrary probes;
    private final CostCurves threads =
            new CostCurves("A call by threads", Plot.Axis.linear("threads"), Plot.Axis.linear("ticks of a processor"));
    private final CostCurves chains = new CostCurves(
            "A call with snippets", Plot.Axis.linear("snippets at the probe"), Plot.Axis.linear("ticks"));

    private CallScaling(NativeApi api, Machine machine, NativeLibrary library) throws IOException {
        this.api = api;
        this.machine = machine;
        this.library = library;
        probes = new ProbedLibrary(api);
    }

    /// @param args the [Build]
    public static void main(String[] args) throws IOException, InterruptedException {
        Build build = Build.valueOf(args[0]);
        NativeApi api = SourceTree.harness();
        Machine machine = Machine.of(api);
        NativeLibrary library = new NativeLibrary(build.compile(
                SourceTree.scratch("call-scaling").resolve("libempty.so"),
                List.of("-O2", "-fPIC", "-shared"),
                List.of(SourceTree.source("empty.c"), SourceTree.source("limits.c"), SourceTree.source("drive.c"))));
        CallScaling scaling = new CallScaling(api, machine, library);
        for (int round = 0; round < ROUNDS; round++) {
            scaling.measureThreads();
            scaling.measureChains();
        }
        try (Report report = new Report("scaling-calls-" + build.name().toLowerCase(Locale.ROOT), machine)) {
            report.line(format(
                    Locale.ROOT,
                    "A function that does nothing, compiled with %s; medians of %d rounds, straight lines by least squares",
                    build,
                    ROUNDS));
            scaling.threads.print(report, "threads");
            scaling.chains.print(report, "snippets");
        }
    }

    private void measureThreads() throws InterruptedException {
        for (int count : THREADS) {
            probes.toggleAll(false);
            threads.add("probes off", count, ticksByThreads(count, "empty", false));
            threads.add("limit: two rdtsc, compiled in", count, ticksByThreads(count, "clocks", false));
            probes.toggleAll(true);
            threads.add("every call recorded", count, ticksByThreads(count, "empty", true));
        }
        probes.toggleAll(false);
    }

    /// Per processor; there may be fewer processors than threads.
    ///
    /// @param recorded whether calls are recorded
    private double ticksByThreads(int count, String function, boolean recorded) throws InterruptedException {
        long before = probes.tally().calls();
        Load load = new Load(api, library, count, library.address(function));
        LockSupport.parkNanos(WARM_UP_NANOS);
        long rounds = Arrays.stream(load.rounds()).sum();
        long start = System.nanoTime();
        LockSupport.parkNanos(MEASURED_NANOS);
        rounds = Arrays.stream(load.rounds()).sum() - rounds;
        double nanos = System.nanoTime() - start;
        load.stop();
        long calls = probes.tally().calls() - before;
        if (recorded ? calls < rounds : calls != 0) {
            throw new IllegalStateException(format(Locale.ROOT, "%,d calls recorded of %,d", calls, rounds));
        }
        int processors = Math.min(count, Runtime.getRuntime().availableProcessors());
        return nanos * machine.ticksPerNano() * processors / rounds;
    }

    private void measureChains() throws IOException {
        Snippets snippets = probes.snippets();
        int entry = probes.probesOf(probes.function(library.address("empty")))[0];
        for (int count : SNIPPETS) {
            List<Snippet> chain = IntStream.range(0, count)
                    .mapToObj(any -> Snippet.of(new Add(snippets.values().counter(), new Constant(1))))
                    .toList();
            for (Snippet snippet : chain) {
                snippets.attach(entry, Snippets.Order.APPEND, snippet);
            }
            chains.add("counters", count, ticks("empty"));
            for (Snippet snippet : chain) {
                snippets.detach(entry, snippet);
            }
            snippets.collect();
            chains.add("limit: the same, compiled in", count, ticks("counters_" + count));
        }
    }

    private double ticks(String function) {
        double[] ticks = new double[REPEATS];
        for (int i = 0; i < REPEATS; i++) {
            long start = api.tsc();
            long unused = NativeLibrary.call(library.address("call"), library.address(function), CALLS);
            ticks[i] = (double) (api.tsc() - start) / CALLS;
        }
        return Percentile.median(ticks);
    }
}
