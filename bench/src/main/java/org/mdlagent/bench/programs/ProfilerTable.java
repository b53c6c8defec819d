package org.mdlagent.bench.programs;

import static java.lang.String.format;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.mdlagent.bench.report.Accuracy;
import org.mdlagent.bench.report.Machine;
import org.mdlagent.bench.report.Percentile;
import org.mdlagent.bench.report.Progress;
import org.mdlagent.bench.report.Report;
import org.mdlagent.bench.report.Truth;
import org.mdlagent.bench.tools.Build;
import org.mdlagent.bench.tools.SourceTree;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.SessionFacts;

/// Cost and accuracy of profiling real programs: table 3 of "Living on the Edge" (PLDI 2016), with and without the
/// governor.
///
/// Variants are interleaved and compared within a round, because the machine's speed drifts. The cost is CPU time,
/// including the agent's threads. JVM start-up has its own column, because a service pays it once. Programs of
/// some ten seconds also show the cost of the first rotations, which the budget does not limit; for the steady
/// state, see [SteadyOverhead].
public final class ProfilerTable {
    private static final int ROUNDS = Integer.getInteger("mdl.bench.rounds", 3);
    private static final int HOTTEST = Integer.getInteger("mdl.bench.hottest", 12);

    /// Number of the hottest functions with every call recorded in a second run.
    private static final int REPEATED = HOTTEST / 4;

    /// A run of a program.
    private enum Variant {
        /// Compiled without probes, run without the agent.
        ALONE(Build.PLAIN, null),
        /// The agent is loaded but idle.
        IDLE(Build.PATCHABLE, "wait,profile=off"),
        GOVERNED(Build.PATCHABLE, "wait,budgetPercent=1"),
        /// As in the paper: 10 calls of each function every 10 ms, whatever it costs.
        UNGOVERNED(Build.PATCHABLE, "wait,budgetPercent=100");

        private final Build build;
        private final @Nullable String options;

        Variant(Build build, @Nullable String options) {
            this.build = build;
            this.options = options;
        }
    }

    private final RealProgram program;
    private final Report report;
    private final Path input;
    private final Map<Variant, ProfiledRun[]> runs = new EnumMap<>(Variant.class);
    private @Nullable List<ExactRuns.Timed> timed;

    private ProfilerTable(RealProgram program, Report report, Path inputs) throws IOException, InterruptedException {
        this.program = program;
        this.report = report;
        input = program.input(inputs);
    }

    /// @param args names of programs
    public static void main(String[] args) throws IOException, InterruptedException {
        List<RealProgram> programs = RealProgram.named(args);
        Machine machine = Machine.of(SourceTree.harness());
        Path inputs = SourceTree.scratch("inputs");
        try (Report report = new Report("profiler", machine)) {
            report.line(format(
                    Locale.ROOT,
                    "%d rounds; medians of differences within a round, lowest and highest in brackets; compiled with %s",
                    ROUNDS,
                    Build.PATCHABLE));
            report.line(format(
                    Locale.ROOT,
                    "%-8s %7s %9s  %-24s %-24s %10s %10s %10s %10s",
                    "PROGRAM",
                    "ALONE",
                    "START",
                    "GOVERNED, first seconds",
                    "UNGOVERNED",
                    "TOGGLES/S",
                    "SAMPLES/S",
                    "TOGGLES/S",
                    "SAMPLES/S"));
            List<ProfilerTable> tables = new ArrayList<>();
            for (RealProgram program : programs) {
                ProfilerTable table = new ProfilerTable(program, report, inputs);
                table.measure();
                table.print();
                tables.add(table);
            }
            report.line(format(
                    Locale.ROOT,
                    "The %d functions with most time of their own and %,d calls, in each round, beside a run for each in which every"
                            + " call of it is recorded",
                    HOTTEST,
                    ExactRuns.CALLS_MIN));
            for (ProfilerTable table : tables) {
                table.printAccuracy();
            }
        }
    }

    private void measure() throws IOException, InterruptedException {
        for (Variant variant : Variant.values()) {
            runs.put(variant, new ProfiledRun[ROUNDS]);
        }
        for (int round = 0; round < ROUNDS; round++) {
            Progress.round(round, ROUNDS);
            for (Variant variant : Variant.values()) {
                ProfiledRun run = ProfiledRun.of(program.command(variant.build), input, variant.options);
                of(variant)[round] = run;
                report.raw(format(
                        Locale.ROOT,
                        "raw %s %s %d: CPU %.3f s of %.3f s",
                        program,
                        variant,
                        round,
                        run.cpuSeconds(),
                        run.seconds()));
            }
        }
    }

    private void printAccuracy() throws IOException, InterruptedException {
        print(Variant.GOVERNED.toString(), accuracy(Variant.GOVERNED));
        print(Variant.UNGOVERNED.toString(), accuracy(Variant.UNGOVERNED));
        if (REPEATED > 0) {
            print("EXACT AGAIN", reproducibility());
        }
    }

    private void print(String of, Accuracy accuracy) {
        report.line(program + ", " + of);
        accuracy.table().forEach(report::line);
    }

    private Accuracy accuracy(Variant variant) throws IOException, InterruptedException {
        return ExactRuns.accuracy(timed(), List.of(of(variant)));
    }

    /// The difference between two runs with every call recorded: the limit of any sample's accuracy.
    private Accuracy reproducibility() throws IOException, InterruptedException {
        List<Truth> some = new ArrayList<>();
        List<FunctionProfile> again = new ArrayList<>();
        for (ExactRuns.Timed once : timed().subList(0, Math.min(REPEATED, timed().size()))) {
            ExactRuns.Timed twice = exactRuns().timed(once.function().symbol());
            some.add(Truth.of(once.function()).slowedBy(twice.cpuSeconds() / once.cpuSeconds()));
            again.add(twice.function());
        }
        return Accuracy.ofRuns(List.of(some), List.of(again));
    }

    private List<ExactRuns.Timed> timed() throws IOException, InterruptedException {
        if (timed == null) {
            Profile profile = Objects.requireNonNull(of(Variant.UNGOVERNED)[0].profile());
            timed = exactRuns().of(ExactRuns.hottest(profile, HOTTEST), report);
        }
        return timed;
    }

    private ExactRuns exactRuns() throws IOException, InterruptedException {
        return new ExactRuns(program.command(Build.PATCHABLE), input);
    }

    private ProfiledRun[] of(Variant variant) {
        return Objects.requireNonNull(runs.get(variant));
    }

    private void print() {
        double[] alone = Arrays.stream(of(Variant.ALONE))
                .mapToDouble(ProfiledRun::cpuSeconds)
                .toArray();
        double[] start = differences(Variant.IDLE, Variant.ALONE, 1000);
        double[] governed = differences(Variant.GOVERNED, Variant.IDLE, 100 / Percentile.median(alone));
        double[] ungoverned = differences(Variant.UNGOVERNED, Variant.IDLE, 100 / Percentile.median(alone));
        report.line(format(
                Locale.ROOT,
                "%-8s %5.1f s %6.0f ms  %-24s %-24s %s %s",
                program,
                Percentile.median(alone),
                Percentile.median(start),
                percent(governed),
                percent(ungoverned),
                rates(Variant.GOVERNED),
                rates(Variant.UNGOVERNED)));
    }

    private double[] differences(Variant variant, Variant base, double scale) {
        double[] differences = new double[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) {
            differences[i] = scale * (of(variant)[i].cpuSeconds() - of(base)[i].cpuSeconds());
        }
        return differences;
    }

    private String rates(Variant variant) {
        double seconds = 0;
        double toggles = 0;
        double samples = 0;
        for (ProfiledRun run : of(variant)) {
            SessionFacts facts = Objects.requireNonNull(run.profile()).session();
            seconds += run.seconds();
            toggles += facts.toggles();
            samples += facts.samples();
        }
        return format(Locale.ROOT, "%,10.0f %,10.0f", toggles / seconds, samples / seconds);
    }

    private static String percent(double[] values) {
        return Percentile.spread("%+.1f %%", "%+.1f", values);
    }
}
