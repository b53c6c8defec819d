package org.mdlagent.bench.programs;

import static java.lang.String.format;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.mdlagent.bench.report.Machine;
import org.mdlagent.bench.report.Percentile;
import org.mdlagent.bench.report.Progress;
import org.mdlagent.bench.report.Report;
import org.mdlagent.bench.tools.Build;
import org.mdlagent.bench.tools.SourceTree;
import org.mdlagent.profiler.report.profile.FunctionProfile;

/// Cost of probes at every function for real programs, compared with static compiler instrumentation (LOPI, table
/// 2).
///
/// Variants are interleaved and compared within a round. Cycles are CPU time in ticks of the time-stamp counter.
/// callgrind counts instructions, in a shorter run.
public final class SourceTable {
    private static final int ROUNDS = Integer.getInteger("mdl.bench.rounds", 3);

    /// Fraction of the work for callgrind, which is fifty times slower.
    private static final double SHARE = 0.01;

    private static final Pattern INSTRUCTIONS = Pattern.compile("Collected : (\\d+)");

    private enum Variant {
        ALONE("without probes", Build.PLAIN, null),
        INLINED("in the source, inlined counters", Build.INLINED, null),
        CALLED("in the source, calls of an empty function", Build.HOOKS, null),
        HIJACKED("return addresses hijacked, as LOPI's", Build.HIJACKED, null),
        GPROF("gprof", Build.GPROF, null),
        LATENT("compiled for probes, no agent", Build.PATCHABLE, null),
        DEACTIVATED("the agent, all probes off; with its start", Build.PATCHABLE, "wait,profile=off"),
        EXACT("the agent, every call timed; with its start", Build.PATCHABLE, "wait,exact");

        private final String what;
        private final Build build;
        private final @Nullable String options;

        Variant(String what, Build build, @Nullable String options) {
            this.what = what;
            this.build = build;
            this.options = options;
        }
    }

    private final RealProgram program;
    private final Machine machine;
    private final Report report;
    private final Path directory;
    private final Map<Variant, List<Double>> seconds = new EnumMap<>(Variant.class);
    private long calls;

    private SourceTable(RealProgram program, Machine machine, Report report) throws IOException {
        this.program = program;
        this.machine = machine;
        this.report = report;
        directory = SourceTree.scratch("source");
    }

    /// @param args names of programs
    public static void main(String[] args) throws IOException, InterruptedException {
        List<RealProgram> programs = RealProgram.named(args);
        Machine machine = Machine.of(SourceTree.harness());
        for (RealProgram program : programs) {
            try (Report report = new Report("source-" + program, machine)) {
                SourceTable table = new SourceTable(program, machine, report);
                table.measure();
                table.print();
            }
        }
    }

    private void measure() throws IOException, InterruptedException {
        Path input = program.input(directory);
        for (int round = 0; round < ROUNDS; round++) {
            for (Variant variant : Variant.values()) {
                Progress.round(program, round, ROUNDS, variant.what);
                ProfiledRun run = ProfiledRun.of(command(variant), input, variant.options);
                seconds.computeIfAbsent(variant, any -> new ArrayList<>()).add(run.cpuSeconds());
                if (variant == Variant.EXACT) {
                    calls = Objects.requireNonNull(run.profile()).functions().stream()
                            .mapToLong(FunctionProfile::calls)
                            .sum();
                }
            }
        }
    }

    private List<String> command(Variant variant) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(program.command(variant.build));
        if (variant == Variant.GPROF) {
            // Its library writes its own file.
            command.addAll(0, List.of("env", "GMON_OUT_PREFIX=" + directory.resolve("gmon")));
        }
        return command;
    }

    private void print() throws IOException, InterruptedException {
        report.line(format(
                Locale.ROOT,
                "%s, %,d calls; %d rounds; medians of differences within a round, lowest and highest in brackets",
                program,
                calls,
                ROUNDS));
        report.line(format(
                Locale.ROOT,
                "%-46s %8s  %-22s %-28s %s",
                "PROBES",
                "SECONDS",
                "CYCLES, OF NONE",
                "TICKS OF A CALL",
                "INSTRUCTIONS, OF NONE"));
        boolean counted = Build.isCommand("valgrind");
        double instructions = counted ? instructions(Variant.ALONE) : Double.NaN;
        for (Variant variant : Variant.values()) {
            report.line(format(
                    Locale.ROOT,
                    "%-46s %8.2f  %-22s %-28s %s",
                    variant.what,
                    Percentile.median(scaled(variant, 1, 0)),
                    Percentile.spread("%.3f", "%.3f", ratios(variant)),
                    Percentile.spread("%.1f", "%.1f", scaled(variant, machine.ticksPerNano() * 1e9 / calls, 1)),
                    !counted
                            ? "absent: there is no valgrind"
                            : variant.options != null
                                    ? "absent: callgrind does not run the agent"
                                    : format(Locale.ROOT, "%.3f", instructions(variant) / instructions)));
            report.raw("raw " + program + ", " + variant.what + ": " + seconds.get(variant));
        }
    }

    private double[] ratios(Variant variant) {
        return IntStream.range(0, ROUNDS)
                .mapToDouble(round -> of(variant).get(round) / of(Variant.ALONE).get(round))
                .toArray();
    }

    /// @param base how often to subtract the time without probes
    private double[] scaled(Variant variant, double scale, int base) {
        return IntStream.range(0, ROUNDS)
                .mapToDouble(round -> scale
                        * (of(variant).get(round) - base * of(Variant.ALONE).get(round)))
                .toArray();
    }

    private List<Double> of(Variant variant) {
        return Objects.requireNonNull(seconds.get(variant));
    }

    private double instructions(Variant variant) throws IOException, InterruptedException {
        List<String> command =
                new ArrayList<>(List.of("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"));
        command.addAll(program.command(variant.build, SHARE));
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectInput(program.input(directory, SHARE).toFile())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        String said = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        Matcher collected = INSTRUCTIONS.matcher(said);
        int status = process.waitFor();
        // gprof's timer may kill its program at exit: the handler is removed before the timer.
        if (!collected.find() || (status != 0 && variant != Variant.GPROF)) {
            throw new IOException("callgrind: " + said);
        }
        return Double.parseDouble(collected.group(1));
    }
}
