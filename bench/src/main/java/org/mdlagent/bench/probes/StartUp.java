package org.mdlagent.bench.probes;

import static java.lang.String.format;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.bench.report.Machine;
import org.mdlagent.bench.report.Percentile;
import org.mdlagent.bench.report.Progress;
import org.mdlagent.bench.report.Report;
import org.mdlagent.bench.report.Target;
import org.mdlagent.bench.tools.Build;
import org.mdlagent.bench.tools.SourceTree;
import org.mdlagent.bench.tools.Tracer;

/// The agent's start-up cost: time, memory, threads, and disk space.
public final class StartUp {
    private static final int ROUNDS = Integer.getInteger("mdl.bench.rounds", 21);
    private static final long SETTLE_MILLIS = 300;
    private static final String AT_ONCE = "startDelayMillis=0";
    private static final String BY_DEFAULT = "startDelayMillis=50";

    /// Number of idle programs, and their duration: start-up work is over by then.
    private static final int IDLE = 3;

    private static final long IDLE_BEFORE_MILLIS = 6000;
    private static final long IDLE_MILLIS = 4000;

    private static final boolean HAS_UFTRACE = Build.isCommand("uftrace");

    private final Path program;
    private final Machine machine;

    /// A waiting program, some time after its start.
    ///
    /// @param armedMillis until its probes were in place, NaN without the agent
    private record Waiting(double armedMillis, double mebibytes, double threads) {}

    private StartUp(Path program, Machine machine) {
        this.program = program;
        this.machine = machine;
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        Machine machine = Machine.of(SourceTree.harness());
        Path program = Build.HOOKS.compile(
                SourceTree.scratch("start").resolve("calls"), List.of("-O2"), List.of(SourceTree.source("calls.c")));
        try (Report report = new Report("start", machine)) {
            new StartUp(program, machine).measure(report);
        }
    }

    private void measure(Report report) throws IOException, InterruptedException {
        Path library = Build.PLAIN.compile(
                SourceTree.scratch("empty").resolve("libempty.so"),
                List.of("-O2", "-fPIC", "-shared"),
                List.of(SourceTree.source("empty.c")));
        double[] delay = new double[ROUNDS];
        double[] delayByDefault = new double[ROUNDS];
        double[] delayByLibrary = new double[ROUNDS];
        double[] delayByUftrace = new double[ROUNDS];
        double[] armed = new double[ROUNDS];
        double[] memory = new double[ROUNDS];
        double[] threads = new double[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) {
            Progress.round(i, ROUNDS);
            double alone = exitMillis(new Tracer.None(), Map.of());
            delay[i] = exitMillis(new Tracer.None(), preloadAgent(AT_ONCE)) - alone;
            delayByDefault[i] = exitMillis(new Tracer.None(), preloadAgent(BY_DEFAULT)) - alone;
            delayByLibrary[i] = exitMillis(new Tracer.None(), Map.of("LD_PRELOAD", library.toString())) - alone;
            if (HAS_UFTRACE) {
                delayByUftrace[i] = exitMillis(Tracer.Uftrace.of(Build.HOOKS), Map.of()) - alone;
            }
            Waiting without = wait(new Tracer.None());
            Waiting under = wait(new Tracer.Agent(AT_ONCE, true));
            armed[i] = under.armedMillis;
            memory[i] = under.mebibytes - without.mebibytes;
            threads[i] = under.threads - without.threads;
        }
        report.line(format(Locale.ROOT, "A small program, compiled with %s; %d rounds", Build.HOOKS, ROUNDS));
        report.heading("");
        String longer = "a program that exits at once takes longer, ms";
        String peers = Report.peer("limit: an empty library, preloaded", Percentile.median(delayByLibrary));
        if (HAS_UFTRACE) {
            peers += "; " + Report.peer("uftrace", Percentile.median(delayByUftrace));
        }
        report.row(longer, delay, Target.MAIN_DELAY, longer, peers);
        report.row("  with the agent's start after 50 ms, as by default", delayByDefault);
        report.row("  with an empty library, preloaded", delayByLibrary);
        if (HAS_UFTRACE) {
            report.row("  under uftrace", delayByUftrace);
        } else {
            report.line("  under uftrace: absent: there is no uftrace");
        }
        report.row("ms until the probes are in place, beside the program", armed);
        report.row("MiB of memory", memory);
        report.row("threads", threads);
        report.row("ms of CPU in a second that it waits, no probe on", idleMillis("profile=off"));
        report.row("ms of CPU in a second that it waits, profiled at 1 %", idleMillis("budgetPercent=1"));
        report.line(format(
                Locale.ROOT,
                "MiB on the disk, the runtime and the command line included: %.0f",
                mebibytes(SourceTree.distribution())));
    }

    /// It does not wait for its probes.
    private static Map<String, String> preloadAgent(String options) throws IOException {
        return Tracer.Agent.preload(Tracer.Agent.session(SourceTree.scratch("session")), options);
    }

    private double exitMillis(Tracer tracer, Map<String, String> environment) throws IOException, InterruptedException {
        ProcessBuilder builder = tracer.start(program, SourceTree.scratch("run"))
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD);
        builder.environment().putAll(environment);
        long start = System.nanoTime();
        if (builder.start().waitFor() != 0) {
            throw new IOException(program + " has failed");
        }
        return (System.nanoTime() - start) / 1e6;
    }

    private Waiting wait(Tracer tracer) throws IOException, InterruptedException {
        Path directory = SourceTree.scratch("run");
        try (CallLoop loop = new CallLoop(tracer.start(program, directory))) {
            Thread.sleep(SETTLE_MILLIS);
            double armed = tracer instanceof Tracer.Agent ? armedMillis(directory) : Double.NaN;
            return new Waiting(armed, loop.status("VmRSS:") / 1024.0, loop.status("Threads:"));
        }
    }

    /// CPU time of the agent's threads in milliseconds per second.
    private double[] idleMillis(String options) throws IOException, InterruptedException {
        Tracer tracer = new Tracer.Agent(AT_ONCE + "," + options, true);
        List<Path> directories = new ArrayList<>();
        List<CallLoop> loops = new ArrayList<>();
        try {
            for (int i = 0; i < IDLE; i++) {
                directories.add(SourceTree.scratch("idle" + i));
                loops.add(new CallLoop(tracer.start(program, directories.getLast())));
            }
            Thread.sleep(IDLE_BEFORE_MILLIS);
            double[] before = agentNanos(directories);
            Thread.sleep(IDLE_MILLIS);
            double[] after = agentNanos(directories);
            return IntStream.range(0, IDLE)
                    .mapToDouble(i -> (after[i] - before[i]) / 1e3 / IDLE_MILLIS)
                    .toArray();
        } finally {
            for (CallLoop loop : loops) {
                loop.close();
            }
        }
    }

    private static double[] agentNanos(List<Path> directories) throws IOException {
        double[] nanos = new double[directories.size()];
        for (int i = 0; i < nanos.length; i++) {
            nanos[i] = Tracer.Agent.header(directories.get(i)).getLong((int) HeaderDescriptor.AGENT_CPU_NANOS);
        }
        return nanos;
    }

    private double armedMillis(Path directory) throws IOException {
        return Tracer.Agent.armedTicks(Tracer.Agent.header(directory)) / machine.ticksPerNano() / 1e6;
    }

    private static double mebibytes(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            double bytes = 0;
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                bytes += Files.size(file);
            }
            return bytes / (1 << 20);
        }
    }
}
