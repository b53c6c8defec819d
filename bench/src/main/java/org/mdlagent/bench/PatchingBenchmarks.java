package org.mdlagent.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.util.Statistics;

/// Runs the benchmarks of the patch protocols, each in a process of its own, and prints what one operation costs in
/// ticks, beside what was published ("Living on the Edge", PLDI 2016, section 8) and what is aimed at.
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
    }

    /// How the agent's JVM is started, as far as it matters here (`native-shim/src/jvm-options.txt`): what Java costs
    /// beside an application is what it costs there. Others can be tried with `-Dmdl.bench.jvm=...`.
    private static final String[] JVM = System.getProperty(
                    "mdl.bench.jvm", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx64m")
            .split(" ");

    private PatchingBenchmarks() {}

    public static void main(String[] args) throws RunnerException, IOException {
        Path log = SourceTree.scratch("patching").resolve("jmh.log");
        System.err.println("mdl: this takes about 80 s; all that JMH says goes to " + log);
        Options options = new OptionsBuilder()
                .include("PatchBenchmark")
                .mode(Mode.SampleTime)
                .timeUnit(TimeUnit.NANOSECONDS)
                .forks(1)
                .jvmArgsAppend(JVM)
                .threads(1)
                .timeout(TimeValue.seconds(30))
                .shouldFailOnError(true)
                .output(log.toString())
                .build();
        Machine machine = Machine.of(SourceTree.harness());
        Collection<RunResult> results = new Runner(options).run();
        try (Report report = new Report("patching", machine)) {
            print(results, machine, report);
        }
    }

    private static void print(Collection<RunResult> results, Machine machine, Report report) {
        report.line(String.format(
                Locale.ROOT, "T_max %d, JVM with %s", WordPatchBenchmark.TMAX_TICKS, String.join(" ", JVM)));
        report.line(String.format(
                Locale.ROOT,
                "%-42s %-9s %9s %9s  %-20s %8s",
                "TICKS FOR ONE",
                "EXECUTED",
                "MEDIAN",
                "P99",
                "PUBLISHED",
                "TARGET"));
        for (Cost cost : COSTS) {
            for (RunResult result : results) {
                if (cost.isOf(result)) {
                    print(cost, result, machine.ticksPerNano() / cost.operations, report);
                }
            }
        }
        report.line(
                "The 99th percentile is that of groups of operations: 64 of single ones, 16 that wait, 20,000 of bulk.");
    }

    private static void print(Cost cost, RunResult result, double scale, Report report) {
        Statistics nanos = result.getPrimaryResult().getStatistics();
        double median = nanos.getPercentile(50) * scale;
        String executed = result.getParams().getParam("executed");
        report.line(String.format(
                Locale.ROOT,
                "%-42s %-9s %,9.0f %,9.0f  %-20s %s",
                cost.what,
                executed == null ? "-" : executed.equals("true") ? "yes" : "no",
                median,
                nanos.getPercentile(99) * scale,
                cost.published,
                cost.target == null ? "-" : cost.target.verdict(median)));
        if (cost.target != null) {
            String of = executed == null
                    ? cost.what
                    : cost.what + (executed.equals("true") ? ", executed" : ", not executed");
            report.figure(cost.target, of, median, "published " + cost.published);
        }
    }
}
