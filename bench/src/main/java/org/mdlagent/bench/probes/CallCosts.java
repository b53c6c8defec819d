package org.mdlagent.bench.probes;

import static java.lang.String.format;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.mdlagent.bench.probes.CallVariant.Calls;
import org.mdlagent.bench.report.Bars;
import org.mdlagent.bench.report.Machine;
import org.mdlagent.bench.report.Percentile;
import org.mdlagent.bench.report.Plot.Axis;
import org.mdlagent.bench.report.Progress;
import org.mdlagent.bench.report.Report;
import org.mdlagent.bench.report.Target;
import org.mdlagent.bench.tools.Build;
import org.mdlagent.bench.tools.SourceTree;
import org.mdlagent.bench.tools.Tracer;

/// The cost of a probe per call of an empty function, compared with other tools that record calls.
///
/// Variants are interleaved: in each round each variant gets its own process, which makes the same calls several
/// times; their median is the round's figure. The cost is that figure minus the figure of the reference variant in
/// the same round. Each tool's output is checked to prove that it has seen the calls.
public final class CallCosts {
    private static final int ROUNDS = Integer.getInteger("mdl.bench.rounds", 9);

    /// Short, so that preemption affects few measurements and not their median.
    private static final Calls LOOP = new Calls(1, 31, 20_000, false);

    /// For tools that write every call to a file.
    private static final Calls SHORT = new Calls(1, 7, 20_000, false);

    /// For costs of microseconds.
    private static final Calls FEW = new Calls(1, 3, 500, false);

    private static final String THIS_AGENT = "this agent";
    private static final String OTHERS = "other tools";

    /// Minimum cost of a probe.
    private static final String LIMIT = "limit";

    private static final String TWO_READINGS = "limit: two readings of the clock";
    private static final String INCREMENT = "limit: an increment in memory";

    private static final String NO_AGENT = "no agent";
    private static final String UPROBE = "bpftrace, uprobe that counts";

    private static final Tracer ALONE = new Tracer.None();
    private static final Tracer EXACT = new Tracer.Agent("exact", true);
    private static final Tracer COUNTED = new Tracer.Agent("counted=*,countedMean=1000000,budgetPercent=100", true);

    /// All probes are made, for clients only.
    private static final Tracer OFF = new Tracer.Agent("profile=off", false);

    private static final Tracer INACTIVE = new Tracer.Agent("exact,exclude=" + Tracer.PROBED, false);

    private final Machine machine;
    private final List<CallVariant> variants = new ArrayList<>();

    private CallCosts(Machine machine, boolean bare) {
        this.machine = machine;
        if (bare) {
            addBare();
        } else {
            addPrepared();
        }
    }

    private void addPrepared() {
        CallVariant gcc = add("a call without probe", Build.PLAIN, ALONE, LOOP, null);
        CallVariant clang = add("a call without probe", Build.PLAIN_CLANG, ALONE, LOOP, null);
        add(TWO_READINGS, Build.CLOCK, ALONE, LOOP, gcc);
        add(INCREMENT, Build.COUNTER, ALONE, LOOP, gcc);
        add("counter at the entry", Build.MCOUNT, EXACT, LOOP, gcc).target(Target.COUNTER);
        add("gprof", Build.GPROF, new Tracer.Gprof(), LOOP, gcc).published("23");
        for (Build build : List.of(Build.HOOKS, Build.PATCHABLE, Build.FENTRY, Build.XRAY)) {
            boolean isClang = build == Build.XRAY;
            add("entry and exit, exact table", build, EXACT, LOOP, isClang ? clang : gcc)
                    .target(Target.EXACT_TABLE);
        }
        Tracer uftrace = new Tracer.Uftrace(List.of());
        add("uftrace", Build.MCOUNT, uftrace, SHORT, gcc).published("218-270");
        add("uftrace", Build.FENTRY, uftrace, SHORT, gcc);
        add("uftrace", Build.HOOKS, uftrace, SHORT, gcc);
        add("uftrace", Build.PATCHABLE, new Tracer.Uftrace(List.of("-P", ".")), SHORT, gcc);
        add("XRay, flight data recorder", Build.XRAY, new Tracer.XRay("xray-fdr"), SHORT, clang)
                .published("260");
        add("XRay, basic mode", Build.XRAY, new Tracer.XRay("xray-basic"), SHORT, clang)
                .published("750");
        add("LTTng-UST", Build.HOOKS, new Tracer.Script("lttng"), SHORT, gcc);
        add("bpftrace, uprobe and uretprobe", Build.PLAIN, new Tracer.Uprobe(true), FEW, gcc)
                .published("41,500");
        add("perf, uprobe and uretprobe", Build.PLAIN, new Tracer.Script("perf"), FEW, gcc);
        add("callgrind", Build.PLAIN, new Tracer.Script("valgrind"), SHORT, gcc);
        for (Build build : List.of(Build.HOOKS, Build.PATCHABLE, Build.FENTRY, Build.MCOUNT, Build.XRAY)) {
            CallVariant alone = add(NO_AGENT, build, ALONE, LOOP, build == Build.XRAY ? clang : gcc);
            add("inactive, over no agent", build, INACTIVE, LOOP, alone).target(Target.INACTIVE);
        }
    }

    /// Functions without compiler support: one shorter than a jump, one with a frame, and one whose calls can only
    /// be counted.
    private void addBare() {
        for (Build build : List.of(Build.PLAIN, Build.FRAMED)) {
            CallVariant alone = add("a call without probe", build, ALONE, LOOP, null);
            if (build == Build.PLAIN) {
                add(TWO_READINGS, Build.CLOCK, ALONE, LOOP, alone);
                add(INCREMENT, Build.COUNTER, ALONE, LOOP, alone);
            }
            add("switched off, over no agent", build, OFF, LOOP, alone).target(Target.INACTIVE);
            add("counter, one call in a million timed", build, COUNTED, LOOP, alone)
                    .target(Target.BARE_COUNTER);
            add("entry and exit, exact table", build, EXACT, LOOP, alone).target(Target.BARE_EXACT_TABLE);
            add("uftrace", build, new Tracer.Uftrace(List.of("-P", ".")), SHORT, alone);
            add(UPROBE, build, new Tracer.Uprobe(false), FEW, alone).published("41,500");
            add("bpftrace, uprobe and uretprobe", build, new Tracer.Uprobe(true), FEW, alone);
            add("perf, uprobe and uretprobe", build, new Tracer.Script("perf"), FEW, alone);
            add("callgrind", build, new Tracer.Script("valgrind"), SHORT, alone);
        }
        CallVariant reader = add("a call without probe", Build.READER, ALONE, LOOP, null);
        add("counter at the entry", Build.READER, EXACT, LOOP, reader).target(Target.BARE_COUNTER);
    }

    private CallVariant add(String what, Build build, Tracer tracer, Calls calls, @Nullable CallVariant base) {
        CallVariant variant = new CallVariant(what, build, tracer, calls, base);
        variants.add(variant);
        return variant;
    }

    /// @param args `bare` for functions without compiler support, else nothing
    public static void main(String[] args) throws IOException, InterruptedException {
        boolean bare = args.length > 0;
        CallCosts costs = new CallCosts(Machine.of(SourceTree.harness()), bare);
        costs.measure();
        try (Report report = new Report(bare ? "calls-bare" : "calls", costs.machine)) {
            costs.print(report);
        }
    }

    private void measure() throws IOException, InterruptedException {
        CallRun run = CallRun.compile(variants);
        for (int round = 0; round < ROUNDS; round++) {
            Progress.round(round, ROUNDS);
            for (CallVariant variant : variants) {
                variant.rounds.add(run.ticks(variant));
            }
        }
    }

    private void print(Report report) throws IOException {
        report.line(format(
                Locale.ROOT,
                "Ticks that a probe adds to a call: of %d rounds; without a probe, the call itself",
                ROUNDS));
        report.line(format(
                Locale.ROOT,
                "%-32s %-30s %9s %9s %9s %8s  %-10s %s",
                "PROBE",
                "COMPILED WITH",
                "BEST",
                "MEDIAN",
                "P90",
                "AGENT'S",
                "PUBLISHED",
                "TARGET"));
        for (CallVariant variant : variants) {
            report.line(format(Locale.ROOT, "%-32s %-30s %s", variant.what, variant.build, figures(variant)));
        }
        report.line(
                "AGENT'S is what of the median is CPU time of the agent, which empties the ring beside the program. Below 0 it is"
                        + " lost in what the agent takes anyway, and left out.");
        report.line("What uftrace's recorder and LTTng's consumer take beside the program is not in their figures.");
        report.line("XRay asks clock_gettime for the time where the kernel does not tell the frequency of the TSC.");
        for (CallVariant variant : variants) {
            int counted = variant.costs().length;
            if (variant.problem != null && counted > 0) {
                report.line(format(
                        Locale.ROOT,
                        "%s, %s: %d of %d rounds do not count: %s",
                        variant.what,
                        variant.build,
                        ROUNDS - counted,
                        ROUNDS,
                        variant.problem));
            }
        }
        figures(report);
        plot(report);
        for (CallVariant variant : variants) {
            report.raw(format(
                    Locale.ROOT,
                    "raw %s, %s: %s",
                    variant.what,
                    variant.build,
                    variant.rounds.stream()
                            .map(ticks -> format(Locale.ROOT, "%.2f+%.2f", ticks.program(), ticks.agent()))
                            .collect(Collectors.joining(" "))));
        }
    }

    private void plot(Report report) throws IOException {
        Bars seen = new Bars("What is added to a call that is seen (median)", Axis.logarithmic("ticks"));
        for (String who : List.of(THIS_AGENT, OTHERS, LIMIT)) {
            for (CallVariant variant : variants) {
                double cost = Percentile.median(variant.costs());
                if (variant.base != null && who(variant).equals(who) && cost > 0) {
                    seen.bar(who, who.equals(LIMIT) ? variant.what : variant.what + ", " + variant.build, cost);
                }
            }
        }
        report.plot("seen", seen);
        Bars unseen = new Bars("What is added to a call that nobody asked about (median)", Axis.linear("ticks"));
        for (CallVariant variant : variants) {
            double cost = Percentile.median(variant.costs());
            if (variant.base != null && isOff(variant) && !Double.isNaN(cost)) {
                double alone = variant.base.base == null ? 0 : Percentile.median(variant.base.costs());
                unseen.bar("this agent, inactive", variant.build.toString(), alone + cost)
                        .bar("no agent", variant.build.toString(), alone);
            }
        }
        report.plot("inactive", unseen);
    }

    /// The tool of a row; none for rows without recording.
    private static String who(CallVariant variant) {
        if (variant.what.equals(TWO_READINGS) || variant.what.equals(INCREMENT)) {
            return LIMIT;
        }
        if (variant.tracer.equals(ALONE) || isOff(variant)) {
            return "";
        }
        return variant.tracer instanceof Tracer.Agent ? THIS_AGENT : OTHERS;
    }

    private static boolean isOff(CallVariant variant) {
        return variant.tracer.equals(INACTIVE) || variant.tracer.equals(OFF);
    }

    private static String figures(CallVariant variant) {
        if (variant.absence != null) {
            return variant.absence;
        }
        double[] costs = variant.costs();
        if (costs.length == 0) {
            return "not measured: " + variant.problem;
        }
        double median = Percentile.median(costs);
        double agent = variant.agentsPart();
        return format(
                Locale.ROOT,
                "%,9.1f %,9.1f %,9.1f %8s  %-10s %s",
                Percentile.of(costs, 0),
                median,
                Percentile.of(costs, 90),
                agent == 0 ? "-" : format(Locale.ROOT, "%.1f", agent),
                variant.published,
                variant.target == null ? "-" : verdict(median, agent, variant.target));
    }

    private static String verdict(double median, double agent, Target target) {
        return target.isMetBy(median) && agent < 0 ? "not known" : target.verdict(median);
    }

    private void figures(Report report) {
        for (CallVariant variant : variants) {
            double[] costs = variant.costs();
            if (variant.target != null && costs.length > 0) {
                String of = variant.what + ", " + variant.build;
                String peers = peers(variant.target, variant.build);
                double agent = Math.max(0, variant.agentsPart());
                double median = Percentile.median(costs);
                if (agent > 0) {
                    // Figures of other tools do not include their work outside the program.
                    String alone = of + ", the program's thread alone";
                    report.figure(variant.target, alone, median - agent, peers);
                    takeApart(variant.target, alone, median - agent, 0, report);
                }
                report.figure(variant.target, of, median, peers);
                takeApart(variant.target, of, median, agent, report);
            }
        }
    }

    /// @param of    whose the figure is
    /// @param agent what of the figure is the agent's
    private void takeApart(Target target, String of, double figure, double agent, Report report) {
        if (target == Target.INACTIVE) {
            return;
        }
        String limit = target == Target.COUNTER || target == Target.BARE_COUNTER ? INCREMENT : TWO_READINGS;
        double least = variants.stream()
                .filter(each -> each.what.equals(limit))
                .mapToDouble(each -> Percentile.median(each.costs()))
                .findFirst()
                .orElseThrow();
        report.part(target, of, limit, least);
        if (agent > 0) {
            report.part(target, of, "the agent, which empties the ring meanwhile", agent);
        }
        report.part(target, of, "the way into the trampoline and back, and recording", figure - least - agent);
    }

    /// Of this run.
    private String peers(Target target, Build build) {
        List<String> names = switch (target) {
            case COUNTER -> List.of("gprof", INCREMENT);
            case BARE_COUNTER -> List.of(UPROBE, INCREMENT);
            case EXACT_TABLE, BARE_EXACT_TABLE ->
                List.of(
                        "uftrace",
                        "XRay, basic mode",
                        "LTTng-UST",
                        "bpftrace, uprobe and uretprobe",
                        "perf, uprobe and uretprobe",
                        "callgrind",
                        TWO_READINGS);
            case INACTIVE -> List.of(NO_AGENT);
            default -> List.of();
        };
        return names.stream()
                .map(name -> peer(name, build))
                .flatMap(Optional::stream)
                .map(peer -> Report.peer(peer.what, Percentile.median(peer.costs())))
                .collect(Collectors.joining("; "));
    }

    /// Compiled in the same way if possible, else the fastest.
    private Optional<CallVariant> peer(String name, Build build) {
        return variants.stream()
                .filter(variant -> variant.what.equals(name) && variant.costs().length > 0)
                .min(Comparator.comparing((CallVariant variant) -> variant.build != build)
                        .thenComparingDouble(variant -> Percentile.median(variant.costs())));
    }
}
