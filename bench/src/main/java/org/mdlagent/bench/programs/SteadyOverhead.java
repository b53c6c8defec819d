package org.mdlagent.bench.programs;

import static java.lang.String.format;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.mdlagent.bench.report.Machine;
import org.mdlagent.bench.report.Percentile;
import org.mdlagent.bench.report.Progress;
import org.mdlagent.bench.report.Report;
import org.mdlagent.bench.report.Target;
import org.mdlagent.bench.tools.Build;
import org.mdlagent.bench.tools.SourceTree;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.SessionFacts;

/// Steady-state cost of profiling at 1 % for real programs that run for half a minute.
///
/// The cost is CPU time, including the agent's threads, relative to an idle agent in the same round. On a shared
/// machine two equal runs may differ by more than the cost, so the agent's own account is shown too: CPU time of
/// its threads, from the kernel, plus probe counts times their measured cost. Both include the first seconds,
/// which are deliberately unlimited; the account after them has its own column.
public final class SteadyOverhead {
    private static final int ROUNDS = Integer.getInteger("mdl.bench.rounds", 3);

    private static final int FIRST_SECONDS = 5;

    /// Multiple of the work of [RealProgram], which takes some ten seconds.
    private static final int TIMES = 3;

    private SteadyOverhead() {}

    /// @param args names of programs
    public static void main(String[] args) throws IOException, InterruptedException {
        List<RealProgram> programs = RealProgram.named(args);
        Machine machine = Machine.of(SourceTree.harness());
        Path inputs = SourceTree.scratch("inputs");
        try (Report report = new Report("steady", machine)) {
            report.line(format(
                    Locale.ROOT,
                    "CPU time, %d rounds; median of differences within a round, lowest and highest in brackets; compiled with %s",
                    ROUNDS,
                    Build.PATCHABLE));
            report.line(format(
                    Locale.ROOT,
                    "%-8s %7s  %-32s %14s %14s %10s %10s",
                    "PROGRAM",
                    "IDLE",
                    "AT 1 %",
                    "OWN ACCOUNT",
                    "AFTER " + FIRST_SECONDS + " s",
                    "TOGGLES/S",
                    "SAMPLES/S"));
            for (RealProgram program : programs) {
                measure(program, inputs, report);
            }
        }
    }

    private static void measure(RealProgram program, Path inputs, Report report)
            throws IOException, InterruptedException {
        List<String> command = program.command(Build.PATCHABLE, TIMES);
        Path input = program.input(inputs, TIMES);
        double[] percents = new double[ROUNDS];
        double[] idleSeconds = new double[ROUNDS];
        double[] ofThreads = new double[ROUNDS];
        double[] ofProbes = new double[ROUNDS];
        double[] later = new double[ROUNDS];
        double seconds = 0;
        double toggles = 0;
        double samples = 0;
        for (int round = 0; round < ROUNDS; round++) {
            Progress.round(round, ROUNDS);
            ProfiledRun idle = ProfiledRun.of(command, input, "wait,profile=off");
            ProfiledRun governed = ProfiledRun.of(command, input, "wait,budgetPercent=1");
            report.raw(format(
                    Locale.ROOT,
                    "raw %s %d: CPU %.3f s idle, %.3f s at 1 %%",
                    program,
                    round,
                    idle.cpuSeconds(),
                    governed.cpuSeconds()));
            idleSeconds[round] = idle.cpuSeconds();
            percents[round] = 100 * (governed.cpuSeconds() / idle.cpuSeconds() - 1);
            Profile profile = Objects.requireNonNull(governed.profile());
            SessionFacts facts = profile.session();
            double start =
                    Objects.requireNonNull(idle.profile()).session().costs().agentNanos();
            ofThreads[round] = (facts.costs().agentNanos() - start) / 1e7 / idle.cpuSeconds();
            ofProbes[round] = profile.probeNanos() / 1e7 / idle.cpuSeconds();
            later[round] = governed.after(FIRST_SECONDS).overheadPercent().orElseThrow();
            seconds += governed.seconds();
            toggles += facts.costs().toggles();
            samples += facts.costs().samples();
        }
        double median = Percentile.median(percents);
        double threads = Percentile.median(ofThreads);
        double probes = Percentile.median(ofProbes);
        report.line(format(
                Locale.ROOT,
                "%-8s %5.1f s  %-32s %12.2f %% %12.2f %% %,10.0f %,10.0f",
                program,
                Percentile.median(idleSeconds),
                Percentile.spread("%+.2f %%", "%+.2f", percents) + " " + Target.PROFILING.verdict(median),
                threads + probes,
                Percentile.median(later),
                toggles / seconds,
                samples / seconds));
        account(report, program + ", CPU time", median, threads, probes);
        report.part(
                Target.PROFILING,
                program + ", CPU time",
                "not the agent's by its account: how far two runs are apart",
                median - threads - probes);
        account(report, program + ", own account", threads + probes, threads, probes);
        report.figure(
                Target.PROFILING,
                program + ", own account after " + FIRST_SECONDS + " s",
                Percentile.median(later),
                "");
    }

    private static void account(Report report, String of, double figure, double threads, double probes) {
        report.figure(Target.PROFILING, of, figure, "");
        report.part(Target.PROFILING, of, "CPU time of the agent's threads", threads);
        report.part(Target.PROFILING, of, "probes, by what they have counted", probes);
    }
}
