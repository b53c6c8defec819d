package org.mdlagent.bench.programs;

import static java.lang.String.format;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import org.mdlagent.bench.report.Accuracy;
import org.mdlagent.bench.report.Column;
import org.mdlagent.bench.report.Machine;
import org.mdlagent.bench.report.Progress;
import org.mdlagent.bench.report.Report;
import org.mdlagent.bench.report.Target;
import org.mdlagent.bench.report.Truth;
import org.mdlagent.bench.tools.Build;
import org.mdlagent.bench.tools.SourceTree;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Profile;

/// Accuracy of reports at the default budget: compared with self-measuring programs, and for real programs with
/// runs in which every call is recorded.
///
/// A run begins when the probes are in place. Each run of a self-measuring program is compared with its own truth,
/// because no two runs are the same.
public final class TruthTable {
    private static final int ROUNDS = Integer.getInteger("mdl.bench.rounds", 10);

    /// Duration of runs; 0 for the two with targets.
    private static final int SECONDS = Integer.getInteger("mdl.bench.seconds", 0);

    private static final int SHORT = 10;
    private static final int LONG = 60;

    /// A real program's work takes some ten seconds.
    private static final int SECONDS_OF_WORK = 10;

    private static final int HOTTEST = Integer.getInteger("mdl.bench.hottest", 6);

    /// Minimum share of time of a relevant function, in percent.
    private static final double PERCENT_MIN = 1;

    private static final String OPTIONS = "wait,budgetPercent=1";

    private final Report report;
    private final Path inputs;

    private TruthTable(Report report, Path inputs) {
        this.report = report;
        this.inputs = inputs;
    }

    /// @param args names of programs of either kind
    public static void main(String[] args) throws IOException, InterruptedException {
        String[] real =
                Stream.of(args).filter(name -> !KnowingProgram.exists(name)).toArray(String[]::new);
        List<RealProgram> programs = RealProgram.named(real);
        Machine machine = Machine.of(SourceTree.harness());
        Path inputs = SourceTree.scratch("inputs");
        try (Report report = new Report("trust", machine)) {
            report.line(format(
                    Locale.ROOT,
                    "%d runs at 1 %% each, of functions with %.0f %% of the time and more; compiled with %s",
                    ROUNDS,
                    PERCENT_MIN,
                    Build.PATCHABLE));
            TruthTable table = new TruthTable(report, inputs);
            for (String name : args) {
                if (KnowingProgram.exists(name)) {
                    table.measure(KnowingProgram.named(name));
                }
            }
            for (RealProgram program : programs) {
                for (int seconds : seconds()) {
                    table.measure(program, seconds);
                }
            }
        }
    }

    private static int[] seconds() {
        return SECONDS == 0 ? new int[] {SHORT, LONG} : new int[] {SECONDS};
    }

    private void measure(KnowingProgram program) throws IOException, InterruptedException {
        Path executable = program.executable();
        Path input = Path.of("/dev/null");
        for (int seconds : seconds()) {
            List<List<Truth>> truths = new ArrayList<>();
            List<List<FunctionProfile>> sampled = new ArrayList<>();
            for (int round = 0; round < ROUNDS; round++) {
                Progress.round(program, round, ROUNDS, seconds + " s");
                Path written = SourceTree.scratch("truth").resolve("truth");
                ProfiledRun run = ProfiledRun.of(KnowingProgram.command(executable, seconds, written), input, OPTIONS);
                List<Truth> known = KnowingProgram.truths(written);
                double passed = seconds * 1e9;
                truths.add(known.stream()
                        .filter(truth -> 100 * truth.values().getOrDefault(Column.TOTAL, 0L) / passed >= PERCENT_MIN)
                        .toList());
                sampled.add(functions(run));
                raw(program.toString(), known, run);
            }
            print(program.toString(), seconds, Accuracy.ofRuns(truths, sampled));
        }
    }

    private void measure(RealProgram program, int seconds) throws IOException, InterruptedException {
        double times = (double) seconds / SECONDS_OF_WORK;
        List<String> command = program.command(Build.PATCHABLE, times);
        Path input = program.input(inputs, times);
        List<ProfiledRun> runs = new ArrayList<>();
        List<String> hottest = List.of();
        for (int round = 0; round < ROUNDS; round++) {
            Progress.round(program, round, ROUNDS, seconds + " s");
            ProfiledRun run = ProfiledRun.of(command, input, OPTIONS);
            if (round == 0) {
                hottest = ExactRuns.hottest(Objects.requireNonNull(run.profile()), HOTTEST);
            }
            runs.add(run);
        }
        List<ExactRuns.Timed> timed = new ExactRuns(command, input).of(hottest, report);
        for (ProfiledRun run : runs) {
            ExactRuns.truths(timed, run).forEach(truth -> raw(program.toString(), truth, functions(run)));
        }
        print(program.toString(), seconds, ExactRuns.accuracy(timed, runs));
    }

    private static List<FunctionProfile> functions(ProfiledRun run) {
        return Objects.requireNonNull(run.profile()).functions();
    }

    private void raw(String program, List<Truth> known, ProfiledRun run) {
        Profile profile = Objects.requireNonNull(run.profile());
        report.raw(format(
                Locale.ROOT,
                "raw %s: CPU %.3f s of %.3f s, agent %.3f s, probes %.3f s",
                program,
                run.cpuSeconds(),
                run.seconds(),
                profile.session().costs().agentNanos() / 1e9,
                profile.probeNanos() / 1e9));
        known.forEach(truth -> raw(program, truth, profile.functions()));
    }

    /// Truth and estimate, column by column.
    private void raw(String program, Truth truth, List<FunctionProfile> profile) {
        List<String> pairs = new ArrayList<>();
        for (Column column : Column.values()) {
            String estimate = profile.stream()
                    .filter(function -> function.symbol().equals(truth.symbol()))
                    .findFirst()
                    .map(column::shown)
                    .orElse("-");
            pairs.add(column + " " + truth.values().get(column) + " " + estimate);
        }
        report.raw("raw " + program + " " + truth.symbol() + ": " + String.join(", ", pairs));
    }

    private void print(String program, int seconds, Accuracy accuracy) {
        report.line(format(Locale.ROOT, "%s, %d s", program, seconds));
        accuracy.table().forEach(report::line);
        String of = program + ", " + seconds + " s";
        boolean isLong = seconds >= LONG;
        Target totals = isLong ? Target.TOTAL_LONG : Target.TOTAL_SHORT;
        figure(isLong ? Target.CALLS_LONG : Target.CALLS_SHORT, of, accuracy.median(Column.CALLS));
        figure(totals, of + ", TOTAL", accuracy.median(Column.TOTAL));
        figure(totals, of + ", SELF", accuracy.median(Column.SELF));
        figure(Target.MEDIAN, of, accuracy.median(Column.P50));
        figure(Target.P99, of, accuracy.median(Column.P99));
        figure(Target.P999, of, accuracy.median(Column.P999));
        figure(Target.OUTSIDE, of, accuracy.outsidePercent());
    }

    private void figure(Target target, String of, double percent) {
        if (!Double.isNaN(percent)) {
            report.figure(target, of, percent, "");
        }
    }
}
