package org.mdlagent.bench.probes;

import static java.lang.String.format;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.bench.report.Curves;
import org.mdlagent.bench.report.Machine;
import org.mdlagent.bench.report.Percentile;
import org.mdlagent.bench.report.Plot;
import org.mdlagent.bench.report.Report;
import org.mdlagent.bench.tools.Build;
import org.mdlagent.bench.tools.SourceTree;

/// Throughput of threads that call probed functions continuously while all these probes toggle at a given rate
/// ("Living on the Edge", PLDI 2016, figures 11 to 13).
///
/// Every call at an enabled entry is recorded: at the end each must be accounted for, as timed or as counted by
/// the session as untimed.
public final class ToggleLoad {
    private static final List<Integer> THREADS = List.of(1, 2, 4, 8);
    private static final int ROUNDS = Integer.getInteger("mdl.bench.rounds", 5);
    private static final long WARM_UP_NANOS = 30_000_000;
    private static final long MEASURED_NANOS = 200_000_000;

    /// Rates of probes that do not toggle.
    private static final int OFF = 0;

    private static final int ON = -1;

    /// Toggles of each probe per second, on or off.
    private static final List<Integer> RATES =
            List.of(OFF, ON, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000);

    /// The toggling thread yields its processor if the next toggle is due later than this.
    private static final double SLEEP_NANOS_MIN = 100_000;

    /// Functions of `load.c`.
    private static final int FUNCTIONS = 9;

    /// What the threads did in one measurement.
    ///
    /// @param calls     in a second, of all threads
    /// @param imbalance what the busiest thread has called, of the average of all
    /// @param toggles   of each probe in a second
    private record Throughput(double calls, double imbalance, double toggles, ProbedLibrary.Tally tally) {}

    private final Build build;
    private final NativeApi api;
    private final NativeLibrary library;
    private final ProbedLibrary probes;

    /// By threads and rates, as they were measured.
    private final Map<Integer, Map<Integer, List<Throughput>>> runs = new TreeMap<>();

    private ToggleLoad(Build build, NativeApi api, NativeLibrary library, ProbedLibrary probes) {
        this.build = build;
        this.api = api;
        this.library = library;
        this.probes = probes;
    }

    /// @param args the [Build]
    public static void main(String[] args) throws IOException, InterruptedException {
        Build build = Build.valueOf(args[0]);
        NativeApi api = SourceTree.harness();
        Machine machine = Machine.of(api);
        Path path = build.compile(
                SourceTree.scratch("load").resolve("libload.so"),
                List.of("-O2", "-fPIC", "-shared", "-fno-align-functions"),
                List.of(SourceTree.source("load.c"), SourceTree.source("drive.c")));
        NativeLibrary library = new NativeLibrary(path);
        ToggleLoad load = new ToggleLoad(build, api, library, new ProbedLibrary(api));
        try (Report report = new Report("toggling-" + build.name().toLowerCase(Locale.ROOT), machine)) {
            load.measure(report);
            load.plot(report);
        }
    }

    private void measure(Report report) throws InterruptedException {
        report.line(format(
                Locale.ROOT,
                "Threads call %d functions, compiled with %s, while all %d probes toggle; %d rounds",
                FUNCTIONS,
                build,
                probes.probeCount(),
                ROUNDS));
        report.line(format(
                "%-24s %7s %12s %16s %16s %9s %9s %14s %12s %6s",
                "TOGGLES/S OF EACH PROBE",
                "THREADS",
                "ACHIEVED",
                "BEST CALLS/S",
                "MEDIAN CALLS/S",
                "OF NONE",
                "IMBALANCE",
                "RECORDED",
                "UNMATCHED",
                "LOST"));
        for (int round = 0; round < ROUNDS; round++) {
            for (int threads : THREADS) {
                for (int rate : RATES) {
                    of(threads, rate).add(throughput(threads, rate));
                }
            }
        }
        for (int threads : THREADS) {
            double none = median(of(threads, OFF), Throughput::calls);
            for (int rate : RATES) {
                print(report, threads, rate, none);
            }
        }
        report.line("IMBALANCE is what the busiest thread has called, of the average of all: the median.");
        report.line(
                "UNMATCHED is what the session says it could not time: calls whose exit was switched off meanwhile.");
        report.line("LOST is what it says nothing of.");
        runs.forEach((threads, rates) -> rates.forEach(
                (rate, rounds) -> report.raw("raw " + threads + " threads, " + name(rate) + ": " + rounds)));
        if (runs.values().stream()
                .flatMap(rates -> rates.values().stream())
                .flatMap(List::stream)
                .anyMatch(run -> run.tally.lost() != 0)) {
            throw new IllegalStateException("calls were lost");
        }
    }

    private List<Throughput> of(int threads, int rate) {
        return runs.computeIfAbsent(threads, any -> new TreeMap<>()).computeIfAbsent(rate, any -> new ArrayList<>());
    }

    private void plot(Report report) throws IOException {
        Plot.Axis toggles = Plot.Axis.logarithmic("toggles of each probe in a second");
        Curves calls = new Curves(
                "Calls while all probes toggle, " + build, toggles, Plot.Axis.linear("millions of calls in a second"));
        Curves imbalance = new Curves(
                "Imbalance of threads while all probes toggle, " + build,
                toggles,
                Plot.Axis.linear("calls of the busiest thread, of the average"));
        double[] rates = RATES.stream()
                .filter(rate -> rate > 0)
                .mapToDouble(Integer::doubleValue)
                .toArray();
        for (int threads : THREADS) {
            String name = threads + (threads == 1 ? " thread" : " threads");
            calls.curve(name, rates, medians(threads, run -> run.calls / 1e6));
            imbalance.curve(name, rates, medians(threads, Throughput::imbalance));
        }
        report.plot("calls", calls);
        report.plot("imbalance", imbalance);
    }

    private double[] medians(int threads, ToDoubleFunction<Throughput> value) {
        return RATES.stream()
                .filter(rate -> rate > 0)
                .mapToDouble(rate -> median(of(threads, rate), value))
                .toArray();
    }

    /// @param rate in toggles of each probe in a second; or [#OFF], [#ON]
    private Throughput throughput(int threads, int rate) throws InterruptedException {
        ProbedLibrary.Tally before = probes.tally();
        probes.toggleAll(rate == ON);
        Load load = new Load(api, library, threads, library.address("leaves"));
        LockSupport.parkNanos(WARM_UP_NANOS);
        long start = System.nanoTime();
        long[] rounds = load.rounds();
        long toggles = rate > 0 ? toggle(1e9 / rate, start + MEASURED_NANOS) : 0;
        sleepUntil(start + MEASURED_NANOS);
        double seconds = (System.nanoTime() - start) / 1e9;
        long[] after = load.rounds();
        load.stop();
        probes.awaitDetached();
        LongSummaryStatistics own =
                IntStream.range(0, threads).mapToLong(i -> after[i] - rounds[i]).summaryStatistics();
        return new Throughput(
                own.getSum() * FUNCTIONS / seconds,
                own.getMax() / own.getAverage(),
                toggles / seconds,
                probes.tally().minus(before));
    }

    /// Toggles all probes in turn until `end`; catches up if late.
    private long toggle(double period, long end) {
        long toggles = 0;
        double due = System.nanoTime();
        for (long now = System.nanoTime(); now < end; now = System.nanoTime()) {
            if (now >= due) {
                probes.toggleAll(toggles % 2 == 0);
                toggles++;
                due += period;
            } else if (due - now > SLEEP_NANOS_MIN) {
                LockSupport.parkNanos((long) (due - now));
            } else {
                Thread.onSpinWait();
            }
        }
        return toggles;
    }

    private static void sleepUntil(long end) {
        for (long now = System.nanoTime(); now < end; now = System.nanoTime()) {
            LockSupport.parkNanos(end - now);
        }
    }

    private void print(Report report, int threads, int rate, double none) {
        List<Throughput> rounds = of(threads, rate);
        double median = median(rounds, Throughput::calls);
        report.line(format(
                Locale.ROOT,
                "%-24s %7d %,12.0f %,16.0f %,16.0f %8.1f%% %9.2f %,14d %,12d %6d",
                name(rate),
                threads,
                rounds.stream().mapToDouble(Throughput::toggles).average().orElseThrow(),
                rounds.stream().mapToDouble(Throughput::calls).max().orElseThrow(),
                median,
                100 * median / none,
                median(rounds, Throughput::imbalance),
                rounds.stream().mapToLong(round -> round.tally.calls()).sum(),
                rounds.stream().mapToLong(round -> round.tally.unmatched()).sum(),
                rounds.stream().mapToLong(round -> round.tally.lost()).sum()));
    }

    private static String name(int rate) {
        return rate == OFF ? "all off" : rate == ON ? "all on" : format(Locale.ROOT, "%,d", rate);
    }

    private static double median(List<Throughput> rounds, ToDoubleFunction<Throughput> value) {
        return Percentile.median(rounds.stream().mapToDouble(value).toArray());
    }
}
