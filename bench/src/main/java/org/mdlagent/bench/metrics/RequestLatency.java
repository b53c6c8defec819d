package org.mdlagent.bench.metrics;

import static java.lang.String.format;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.MetricDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.bench.probes.SessionMemory;
import org.mdlagent.bench.report.Curves;
import org.mdlagent.bench.report.Machine;
import org.mdlagent.bench.report.Percentile;
import org.mdlagent.bench.report.Plot.Axis;
import org.mdlagent.bench.report.Report;
import org.mdlagent.bench.report.Target;
import org.mdlagent.bench.tools.Build;
import org.mdlagent.bench.tools.ControlSocket;
import org.mdlagent.bench.tools.SourceTree;
import org.mdlagent.bench.tools.Tracer;

/// Measures the time from a request for a metric to the first event that it counts, in a program that calls its
/// 10,000 functions in turn.
public final class RequestLatency {
    private static final int FUNCTIONS = 10_000;
    private static final int FUNCTIONS_PER_FILE = 2_500;
    private static final int REQUESTS = Integer.getInteger("mdl.bench.requests", 101);
    private static final long SETTLE_MILLIS = 1_000;
    private static final long PATIENCE_NANOS = 5_000_000_000L;
    private static final long SEED = 7;

    /// Limit for slow peers.
    private static final int TRACES = 5;

    private final ControlSocket control;
    private final SessionMemory memory;

    /// Milliseconds after a request.
    ///
    /// @param answered when the agent had enabled the metric
    /// @param counted  when the program had counted an event
    private record Request(double answered, double counted) {}

    private interface Measurement<T> {
        T measure() throws IOException, InterruptedException;
    }

    /// @param session directory of a program's session
    private RequestLatency(Path session) throws IOException {
        control = new ControlSocket(session);
        memory = new SessionMemory(session);
    }

    /// @param args the [Build]
    public static void main(String[] args) throws IOException, InterruptedException {
        Build build = Build.valueOf(args[0]);
        Machine machine = Machine.of(SourceTree.harness());
        try (Report report = new Report("requests-" + build.name().toLowerCase(Locale.ROOT), machine)) {
            Path program = program(build);
            Path directory = SourceTree.scratch("run");
            List<Request> requests = under(
                    new Tracer.Agent("budgetPercent=1", true),
                    program,
                    directory,
                    () -> new RequestLatency(Tracer.Agent.session(directory)).measure());
            double[] byBpftrace = Build.isCommand("bpftrace")
                    ? under(new Tracer.None(), program, SourceTree.scratch("run"), () -> askBpftrace(program))
                    : new double[0];
            print(report, build, requests, byBpftrace);
        }
    }

    /// Runs while the program runs.
    private static <T> T under(Tracer tracer, Path program, Path directory, Measurement<T> measurement)
            throws IOException, InterruptedException {
        Process process = tracer.start(program, directory).start();
        try (BufferedReader output = process.inputReader()) {
            if (!"ready".equals(output.readLine())) {
                throw new IOException("the program does not start");
            }
            Thread.sleep(SETTLE_MILLIS);
            return measurement.measure();
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    /// Milliseconds from the start of bpftrace until it has seen a call; empty if it sees none.
    private static double[] askBpftrace(Path program) throws IOException, InterruptedException {
        double[] millis = new double[TRACES];
        for (int i = 0; i < TRACES; i++) {
            String script = "uprobe:%s:f_%d { printf(\"called\\n\"); exit(); }".formatted(program, i);
            long start = System.nanoTime();
            Process bpftrace = new ProcessBuilder("bpftrace", "-e", script)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            try (BufferedReader output = bpftrace.inputReader()) {
                if (output.lines().noneMatch("called"::equals)) {
                    return new double[0];
                }
                millis[i] = (System.nanoTime() - start) / 1e6;
            } finally {
                bpftrace.destroy();
                int unused = bpftrace.waitFor();
            }
        }
        return millis;
    }

    private static Path program(Build build) throws IOException, InterruptedException {
        Path directory = SourceTree.scratch("requests");
        List<Path> sources = new ArrayList<>(List.of(SourceTree.source("visit.c")));
        for (int first = 0; first < FUNCTIONS; first += FUNCTIONS_PER_FILE) {
            String text = IntStream.range(first, first + FUNCTIONS_PER_FILE)
                    .mapToObj(i -> "uint64_t f_" + i + "(uint64_t x) { return x + " + i + "; }\n")
                    .collect(Collectors.joining("", "#include <stdint.h>\n", ""));
            sources.add(Files.writeString(directory.resolve("part" + first + ".c"), text));
        }
        String declarations = IntStream.range(0, FUNCTIONS)
                .mapToObj(i -> "uint64_t f_" + i + "(uint64_t);\n")
                .collect(Collectors.joining("", "#include <stdint.h>\n", ""));
        String table = IntStream.range(0, FUNCTIONS)
                .mapToObj(i -> "f_" + i)
                .collect(Collectors.joining(
                        ",\n",
                        "uint64_t (*const functions[])(uint64_t) = {",
                        "};\nconst uint64_t function_count = " + FUNCTIONS + ";\n"));
        sources.add(Files.writeString(directory.resolve("table.c"), declarations + table));
        return build.compile(directory.resolve("visit"), List.of("-O1", "-g"), sources);
    }

    private List<Request> measure() throws IOException {
        SplittableRandom random = new SplittableRandom(SEED);
        List<Request> requests = new ArrayList<>();
        for (int i = 0; i < REQUESTS; i++) {
            int function = random.nextInt(FUNCTIONS);
            int part = function / FUNCTIONS_PER_FILE * FUNCTIONS_PER_FILE;
            String request = "procedure_calls@/Code/part" + part + ".c/f_" + function;
            long start = System.nanoTime();
            ask("metric enable " + request);
            double answered = (System.nanoTime() - start) / 1e6;
            awaitEvent();
            requests.add(new Request(answered, (System.nanoTime() - start) / 1e6));
            ask("metric disable " + request);
        }
        return requests;
    }

    private void ask(String request) throws IOException {
        String unused = control.ask(request);
    }

    /// There is one metric, and one thread.
    private void awaitEvent() throws IOException {
        long end = System.nanoTime() + PATIENCE_NANOS;
        int metric = memory.offset(memory.word(HeaderDescriptor.METRICS));
        int index = memory.halfWord(metric + MetricDescriptor.VALUE);
        while (countOf(index) == 0) {
            if (System.nanoTime() > end) {
                throw new IOException("nothing is counted");
            }
            Thread.onSpinWait();
        }
    }

    private long countOf(int index) {
        long values = memory.word(memory.threads().findFirst().orElseThrow() + ThreadDescriptor.VALUES);
        return values == 0 ? 0 : memory.word(memory.offset(values) + (long) index * Long.BYTES);
    }

    private static void print(Report report, Build build, List<Request> requests, double[] byBpftrace)
            throws IOException {
        double[] sorted = millis(requests, Request::counted);
        double median = Percentile.median(sorted);
        double answered = Percentile.median(millis(requests, Request::answered));
        report.line(format(
                Locale.ROOT,
                "Milliseconds from a request to the first event counted, %,d functions compiled with %s, %d requests",
                FUNCTIONS,
                build,
                sorted.length));
        report.line(format(Locale.ROOT, "%12s %12s %12s %12s  %s", "THE FIRST", "BEST", "MEDIAN", "P99", "TARGET"));
        report.line(format(
                Locale.ROOT,
                "%12.2f %12.2f %12.2f %12.2f  %s",
                requests.getFirst().counted,
                sorted[0],
                median,
                Percentile.of(sorted, 99),
                Target.REQUEST.verdict(median)));
        double traced = Percentile.median(byBpftrace);
        report.line(
                byBpftrace.length == 0
                        ? "bpftrace, started for one function: absent, or it has seen no call"
                        : format(
                                Locale.ROOT,
                                "bpftrace, started for one function: %.0f (median of %d)",
                                traced,
                                TRACES));
        report.figure(
                Target.REQUEST,
                build.toString(),
                median,
                byBpftrace.length == 0 ? "" : Report.peer("bpftrace, started for one function", traced));
        report.part(Target.REQUEST, build.toString(), "until the agent has answered (median)", answered);
        report.part(Target.REQUEST, build.toString(), "until the program has counted then", median - answered);
        Curves histogram = new Curves(
                "From a request to the first event counted", Axis.logarithmic("ms"), Axis.linear("% of the requests"));
        report.plot("histogram", histogram.histogram(build.toString(), sorted));
        report.raw("raw: " + requests);
    }

    /// Sorted, without the first.
    private static double[] millis(List<Request> requests, ToDoubleFunction<Request> time) {
        return requests.stream().skip(1).mapToDouble(time).sorted().toArray();
    }
}
