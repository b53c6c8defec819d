package org.mdlagent.bench.patching;

import static java.lang.String.format;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.mdlagent.bench.report.Bars;
import org.mdlagent.bench.report.Machine;
import org.mdlagent.bench.report.Plot.Axis;
import org.mdlagent.bench.report.Report;
import org.mdlagent.bench.report.Target;
import org.mdlagent.bench.tools.SourceTree;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.util.Statistics;

/// Runs the benchmarks of the patch protocols, each in its own process, and prints the cost of one operation in
/// ticks, with published figures ("Living on the Edge", PLDI 2016, section 8) and targets.
public final class PatchingBenchmarks {
    private static final List<Cost> COSTS = List.of(
            new Cost("callpatch, on", CallPatchBenchmark.class, "on", PatchedCode.EXECUTED, "432", Target.CALLPATCH),
            new Cost("callpatch, off", CallPatchBenchmark.class, "off", PatchedCode.EXECUTED, "315", Target.CALLPATCH),
            new Cost("callpatch, call to call", CallPatchBenchmark.class, "retarget", PatchedCode.EXECUTED, "-", null),
            new Cost(
                    "callpatch, 20,000 in one call",
                    CallPatchBenchmark.class,
                    "bulk",
                    CallPatchBenchmark.SITES,
                    "-",
                    Target.BATCH),
            new Cost("wordpatch, no straddler", WordPatchBenchmark.class, "whole", PatchedCode.EXECUTED, "-", null),
            new Cost(
                    "wordpatch, straddler, T_max",
                    WordPatchBenchmark.class,
                    "tmax",
                    WordPatchBenchmark.SYNCHRONOUS,
                    "8,850",
                    Target.STRADDLER),
            new Cost(
                    "wordpatch, straddler, membarrier",
                    WordPatchBenchmark.class,
                    "membarrier",
                    WordPatchBenchmark.SYNCHRONOUS,
                    "-",
                    null),
            new Cost(
                    "wordpatch, straddler, start and finish",
                    WordPatchBenchmark.class,
                    "async",
                    PatchedCode.EXECUTED,
                    "-",
                    null),
            new Cost(
                    "wordpatch, 20,000 straddlers in one call",
                    WordPatchBenchmark.class,
                    "batch",
                    WordPatchBenchmark.SITES,
                    "1,900,000 (Dyninst)",
                    Target.BATCH));

    /// Java's own mechanism.
    private static final List<Cost> CALL_SITES = List.of(
            new Cost(
                    "MutableCallSite, toggle and syncAll",
                    CallSiteBenchmark.class,
                    "toggleMutable",
                    CallSiteBenchmark.TOGGLES,
                    "-",
                    null),
            new Cost(
                    "VolatileCallSite, toggle",
                    CallSiteBenchmark.class,
                    "toggleVolatile",
                    CallSiteBenchmark.TOGGLES,
                    "-",
                    null),
            new Cost(
                    "MutableCallSite, 20,000 in one syncAll",
                    CallSiteBenchmark.class,
                    "toggleMany",
                    CallSiteBenchmark.SITES,
                    "-",
                    null),
            new Cost(
                    "MutableCallSite, a call while it is off",
                    CallSiteBenchmark.class,
                    "callMutable",
                    CallSiteBenchmark.CALLS,
                    "-",
                    null),
            new Cost(
                    "VolatileCallSite, a call while it is off",
                    CallSiteBenchmark.class,
                    "callVolatile",
                    CallSiteBenchmark.CALLS,
                    "-",
                    null));

    /// A row of the table.
    ///
    /// @param operations of one invocation of the method
    /// @param published  ticks for one operation, elsewhere
    /// @param target     for one operation, null when none is set
    private record Cost(
            String what,
            Class<?> benchmark,
            String method,
            int operations,
            String published,
            @Nullable Target target) {
        boolean isOf(RunResult result) {
            return result.getParams().getBenchmark().equals(benchmark.getName() + "." + method);
        }

        /// Tells the rows apart.
        String name(RunResult result) {
            String executed = result.getParams().getParam("executed");
            return executed == null ? what : what + (executed.equals("true") ? EXECUTED : NOT_EXECUTED);
        }
    }

    /// The relevant JVM options of the agent (`native-shim/src/jvm-options.txt`), so that costs match those in an
    /// application. Override with `-Dmdl.bench.jvm=...`.
    private static final String[] JVM = System.getProperty(
                    "mdl.bench.jvm", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx64m")
            .split(" ");

    private static final String EXECUTED = ", executed";
    private static final String NOT_EXECUTED = ", not executed";

    private final Machine machine;
    private final Report report;

    /// Of one operation, in ticks, by the names of rows.
    private final Map<String, Double> medians = new HashMap<>();

    private PatchingBenchmarks(Machine machine, Report report) {
        this.machine = machine;
        this.report = report;
    }

    public static void main(String[] args) throws RunnerException, IOException {
        Path scratch = SourceTree.scratch("patching");
        System.err.println("mdl: this takes about 2 minutes; all that JMH says goes to " + scratch);
        Machine machine = Machine.of(SourceTree.harness());
        try (Report report = new Report("patching", machine)) {
            Collection<RunResult> patching =
                    run(options("PatchBenchmark", scratch).jvmArgsAppend(JVM).build());
            // Default options, as Java programs run: compiled code is compared.
            Collection<RunResult> callSites = run(
                    options("CallSiteBenchmark", scratch).jvmArgs("-Xmx256m").build());
            new PatchingBenchmarks(machine, report).print(patching, callSites);
        }
    }

    private void print(Collection<RunResult> patching, Collection<RunResult> callSites) throws IOException {
        Bars bars = new Bars("Patching, and changing of Java's call sites (median)", Axis.logarithmic("ticks for one"));
        note(COSTS, patching);
        note(CALL_SITES, callSites);
        report.line(format(Locale.ROOT, "T_max %d, JVM with %s", Machine.TMAX_TICKS, String.join(" ", JVM)));
        report.line(row("TICKS FOR ONE", "EXECUTED", "MEDIAN", "P99", "PUBLISHED", "TARGET"));
        print(COSTS, patching, "this agent", bars);
        report.line("The same of Java's call sites, in a JVM with its defaults");
        print(CALL_SITES, callSites, "Java", bars);
        report.line(
                "The 99th percentile is that of groups of operations: 64 of single ones, 16 that wait or are Java's,"
                        + " 20,000 at once, 10,000 calls.");
        report.plot("costs", bars);
        takeApart();
    }

    private void note(List<Cost> costs, Collection<RunResult> results) {
        forEach(costs, results, (cost, result) -> medians.put(cost.name(result), percentile(cost, result, 50)));
    }

    private static void forEach(List<Cost> costs, Collection<RunResult> results, BiConsumer<Cost, RunResult> action) {
        for (Cost cost : costs) {
            results.stream().filter(cost::isOf).forEach(result -> action.accept(cost, result));
        }
    }

    /// In ticks, of one operation.
    private double percentile(Cost cost, RunResult result, double percent) {
        Statistics nanos = result.getPrimaryResult().getStatistics();
        return nanos.getPercentile(percent) * machine.ticksPerNano() / cost.operations;
    }

    private static ChainedOptionsBuilder options(String benchmark, Path scratch) {
        return new OptionsBuilder()
                .include(benchmark)
                .mode(Mode.SampleTime)
                .timeUnit(TimeUnit.NANOSECONDS)
                .forks(1)
                .threads(1)
                .timeout(TimeValue.seconds(30))
                .shouldFailOnError(true)
                .output(scratch.resolve(benchmark + ".log").toString());
    }

    private static Collection<RunResult> run(Options options) throws RunnerException {
        return new Runner(options).run();
    }

    private static String row(Object... cells) {
        return format(Locale.ROOT, "%-42s %-9s %9s %9s  %-20s %8s", cells);
    }

    private void print(List<Cost> costs, Collection<RunResult> results, String series, Bars bars) {
        forEach(costs, results, (cost, result) -> {
            print(cost, result);
            bars.bar(series, cost.name(result), median(cost.name(result)));
        });
    }

    private void print(Cost cost, RunResult result) {
        String name = cost.name(result);
        String executed = result.getParams().getParam("executed");
        report.line(row(
                cost.what,
                executed == null ? "-" : executed.equals("true") ? "yes" : "no",
                ticks(median(name)),
                ticks(percentile(cost, result, 99)),
                cost.published,
                cost.target == null ? "-" : cost.target.verdict(median(name))));
        if (cost.target != null) {
            report.figure(cost.target, name, median(name), peers(cost, result));
        }
    }

    private String peers(Cost cost, RunResult result) {
        int operations = cost.target == Target.CALLPATCH
                ? CallSiteBenchmark.TOGGLES
                : cost.target == Target.BATCH ? CallSiteBenchmark.SITES : 0;
        return Stream.concat(
                        Stream.of(cost.published)
                                .filter(published -> !published.equals("-"))
                                .map(published -> "published " + published),
                        CALL_SITES.stream()
                                .filter(site -> site.operations == operations)
                                .map(site -> Report.peer(site.what, median(site.name(result)))))
                .collect(Collectors.joining("; "));
    }

    /// By subtraction of other measurements.
    private void takeApart() {
        for (String toggle : List.of("callpatch, on", "callpatch, off")) {
            double alone = median(toggle + NOT_EXECUTED);
            String executed = toggle + EXECUTED;
            report.part(Target.CALLPATCH, executed, "the same while nobody executes the site", alone);
            report.part(
                    Target.CALLPATCH,
                    executed,
                    "the cache line, which the other core has fetched again",
                    median(executed) - alone);
        }
        for (String executed : List.of(EXECUTED, NOT_EXECUTED)) {
            String straddler = "wordpatch, straddler, T_max" + executed;
            double waits = 2.0 * Machine.TMAX_TICKS;
            report.part(Target.STRADDLER, straddler, "two waits of T_max", waits);
            report.part(
                    Target.STRADDLER,
                    straddler,
                    "the trapping byte, its row, and two more stores",
                    median(straddler) - waits);
        }
        String batch = "wordpatch, 20,000 straddlers in one call";
        double store = median("wordpatch, no straddler" + NOT_EXECUTED);
        report.part(Target.BATCH, batch, "a patch by one store", store);
        report.part(Target.BATCH, batch, "the trapping byte, its row, and two more stores", median(batch) - store);
    }

    private double median(String name) {
        return medians.getOrDefault(name, Double.NaN);
    }

    private static String ticks(double ticks) {
        return format(Locale.ROOT, ticks < 10 ? "%,.2f" : "%,.0f", ticks);
    }
}
