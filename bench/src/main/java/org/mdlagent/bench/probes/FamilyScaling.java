package org.mdlagent.bench.probes;

import static java.lang.String.format;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.mdlagent.bench.report.CostCurves;
import org.mdlagent.bench.report.Machine;
import org.mdlagent.bench.report.Plot;
import org.mdlagent.bench.report.Report;
import org.mdlagent.bench.tools.Build;
import org.mdlagent.bench.tools.SourceTree;
import org.mdlagent.bench.tools.Tracer;

/// Cost of a forked process by the number of processes: time and memory.
public final class FamilyScaling {
    private static final int ROUNDS = Integer.getInteger("mdl.bench.rounds", 7);
    private static final List<Integer> PROCESSES = List.of(1, 2, 4, 8, 16, 32, 64);
    private static final int KIB_PER_MIB = 1024;

    private final Machine machine;
    private final Path program;
    private final Map<String, Tracer> tracers;
    private final CostCurves forks = new CostCurves(
            "From fork to the first call's end", Plot.Axis.linear("forked processes, up to"), Plot.Axis.linear("ms"));
    private final CostCurves memory =
            new CostCurves("Memory of all processes", Plot.Axis.linear("forked processes"), Plot.Axis.linear("MiB"));

    private FamilyScaling(Build build, Machine machine) throws IOException, InterruptedException {
        this.machine = machine;
        program = build.compile(
                SourceTree.scratch("family").resolve("family"), List.of("-O2"), List.of(SourceTree.source("family.c")));
        tracers = Tracer.compared(build, "the agent, every call");
    }

    /// @param args the [Build]
    public static void main(String[] args) throws IOException, InterruptedException {
        Build build = Build.valueOf(args[0]);
        Machine machine = Machine.of(SourceTree.harness());
        FamilyScaling scaling = new FamilyScaling(build, machine);
        for (int round = 0; round < ROUNDS; round++) {
            for (Map.Entry<String, Tracer> each : scaling.tracers.entrySet()) {
                scaling.measure(each.getKey(), each.getValue());
            }
        }
        try (Report report = new Report("scaling-family-" + build.name().toLowerCase(Locale.ROOT), machine)) {
            report.line(format(
                    Locale.ROOT,
                    "A small program, compiled with %s, that forks; medians of %d rounds, straight lines by least squares",
                    build,
                    ROUNDS));
            scaling.forks.print(report, "time");
            scaling.memory.print(report, "memory");
        }
    }

    private void measure(String who, Tracer tracer) throws IOException {
        try (CallLoop family = new CallLoop(tracer.start(program, SourceTree.scratch("run")))) {
            int forked = 0;
            for (int upTo : PROCESSES) {
                for (; forked < upTo; forked++) {
                    forks.add(who, upTo, family.ticks(1) / machine.ticksPerNano() / 1e6);
                }
                memory.add(who, upTo, mebibytes(family.pid()));
            }
        }
    }

    /// Memory of a process and its children; shared pages count once.
    private static double mebibytes(long pid) throws IOException {
        ProcessHandle first = ProcessHandle.of(pid).orElseThrow();
        double kibibytes = 0;
        for (ProcessHandle each :
                Stream.concat(Stream.of(first), first.descendants()).toList()) {
            kibibytes += Files.readAllLines(Path.of("/proc", Long.toString(each.pid()), "smaps_rollup")).stream()
                    .filter(line -> line.startsWith("Pss:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
                    .sum();
        }
        return kibibytes / KIB_PER_MIB;
    }
}
