package org.mdlagent.bench.programs;

import static java.lang.String.format;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.mdlagent.bench.report.Bars;
import org.mdlagent.bench.report.Machine;
import org.mdlagent.bench.report.Percentile;
import org.mdlagent.bench.report.Plot;
import org.mdlagent.bench.report.Progress;
import org.mdlagent.bench.report.Report;
import org.mdlagent.bench.tools.Build;
import org.mdlagent.bench.tools.SourceTree;

/// Cost of profiling servers: throughput and p99 as reported by their load tools, and CPU time.
///
/// Watchers are interleaved, each with its own process that is warmed up before measuring, and are compared within
/// a round. Server and load tool share the machine's processors.
public final class MacroTable {
    private static final int ROUNDS = Integer.getInteger("mdl.bench.rounds", 3);
    private static final int SECONDS = Integer.getInteger("mdl.bench.seconds", 2);
    /// The result of one run.
    ///
    /// @param cpuMicros per request: the server and an external watcher
    private record Run(double perSecond, double p99Micros, double cpuMicros) {}

    private final Service service;
    private final Report report;
    private final Map<Watcher, List<Run>> runs = new EnumMap<>(Watcher.class);
    private final Map<Watcher, String> problems = new EnumMap<>(Watcher.class);

    private MacroTable(Service service, Report report) {
        this.service = service;
        this.report = report;
    }

    /// @param args Debian's names of source packages, none for all services
    public static void main(String[] args) throws IOException, InterruptedException {
        List<Service> services = Service.named(args);
        Machine machine = Machine.of(SourceTree.harness());
        for (Service service : services) {
            try (Report report = new Report("macro-" + service.source(), machine)) {
                MacroTable table = new MacroTable(service, report);
                table.measure();
                table.print();
                report.plot("cpu", table.bars("CPU time of a request", Plot.Axis::logarithmic, Run::cpuMicros));
                report.plot("requests", table.bars("Requests in a second", Plot.Axis::linear, Run::perSecond));
            }
        }
    }

    private void measure() throws IOException, InterruptedException {
        Map<Watcher, Path> programs = new EnumMap<>(Watcher.class);
        for (Watcher watcher : Watcher.values()) {
            Path program = program(watcher);
            if (program != null) {
                programs.put(watcher, program);
            }
        }
        for (int round = 0; round < ROUNDS; round++) {
            for (Watcher watcher : programs.keySet()) {
                Progress.round(service.source(), round, ROUNDS, watcher);
                runs.computeIfAbsent(watcher, any -> new ArrayList<>())
                        .add(run(watcher, Objects.requireNonNull(programs.get(watcher))));
            }
        }
    }

    /// Null if it cannot be installed or watched here, which is then listed among the problems.
    private @Nullable Path program(Watcher watcher) throws InterruptedException {
        String tool = service.loadTool();
        String absence = tool == null || Build.isCommand(tool) ? watcher.absence() : "there is no " + tool;
        if (absence == null) {
            try {
                return SourceTree.debian(service.source(), watcher.build());
            } catch (IOException e) {
                absence = e.getMessage();
            }
        }
        problems.put(watcher, "absent: " + absence);
        return null;
    }

    private Run run(Watcher watcher, Path program) throws IOException, InterruptedException {
        try (RunningService server = new RunningService(service, watcher, program, "macro")) {
            Service.Served unused = server.load(watcher.warmUpSeconds());
            long before = server.cpuNanos();
            Service.Served served = server.load(SECONDS);
            long cpuNanos = server.cpuNanos() - before;
            server.stop();
            return new Run(served.perSecond(), served.p99Micros(), cpuNanos / 1e3 / served.requests());
        }
    }

    private void print() {
        report.line(service.work());
        report.line(format(
                Locale.ROOT,
                "%d rounds; medians, and those of ratios within a round, lowest and highest in brackets",
                ROUNDS));
        report.line(format(
                "Compiled with %s for the agent and uftrace, with %s for XRay; else without probes",
                Build.PATCHABLE, Build.XRAY));
        report.line(
                "Server and load tool share the processors. CPU is the server's, and of whoever watches it beside.");
        report.line(format(
                Locale.ROOT,
                "%-40s %11s %-20s %9s %-20s %11s %s",
                "WATCHED BY",
                "REQUESTS/S",
                "OF NONE",
                "P99, US",
                "OF NONE",
                "CPU EACH, US",
                "OF NONE"));
        for (Watcher watcher : Watcher.values()) {
            String problem = problems.get(watcher);
            report.line(format(Locale.ROOT, "%-40s %s", watcher, problem == null ? figures(watcher) : problem));
            report.raw("raw " + service.source() + ", " + watcher + ": " + runs.get(watcher));
        }
    }

    private String figures(Watcher watcher) {
        return format(
                Locale.ROOT,
                "%,11.0f %-20s %,9.0f %-20s %,11.2f %s",
                median(watcher, Run::perSecond),
                ratio(watcher, Run::perSecond),
                median(watcher, Run::p99Micros),
                ratio(watcher, Run::p99Micros),
                median(watcher, Run::cpuMicros),
                ratio(watcher, Run::cpuMicros));
    }

    private double median(Watcher watcher, ToDoubleFunction<Run> value) {
        return Percentile.median(of(watcher).stream().mapToDouble(value).toArray());
    }

    private String ratio(Watcher watcher, ToDoubleFunction<Run> value) {
        double[] ratios = ratios(watcher, value);
        return ratios.length == 0 ? "" : Percentile.spread("%.3f", "%.2f", ratios);
    }

    /// Relative to the unwatched server in the same rounds; empty if either is missing.
    private double[] ratios(Watcher watcher, ToDoubleFunction<Run> value) {
        Watcher base = watcher.base();
        if (watcher == base || problems.containsKey(watcher) || problems.containsKey(base)) {
            return new double[0];
        }
        return IntStream.range(0, ROUNDS)
                .mapToDouble(
                        round -> value.applyAsDouble(of(watcher).get(round)) / value.applyAsDouble(of(base).get(round)))
                .toArray();
    }

    private Bars bars(String what, Function<String, Plot.Axis> axis, ToDoubleFunction<Run> value) {
        Bars bars = new Bars(what + " under watch: " + service.source(), axis.apply("of what it is unwatched"));
        for (Watcher watcher : Watcher.values()) {
            double[] ratios = ratios(watcher, value);
            if (ratios.length > 0) {
                bars.bar(service.source(), watcher.toString(), Percentile.median(ratios));
            }
        }
        return bars;
    }

    private List<Run> of(Watcher watcher) {
        return Objects.requireNonNull(runs.get(watcher));
    }
}
