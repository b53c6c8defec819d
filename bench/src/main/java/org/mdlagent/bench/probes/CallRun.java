package org.mdlagent.bench.probes;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.mdlagent.bench.probes.CallVariant.Calls;
import org.mdlagent.bench.probes.CallVariant.Ticks;
import org.mdlagent.bench.report.Percentile;
import org.mdlagent.bench.tools.Build;
import org.mdlagent.bench.tools.SourceTree;
import org.mdlagent.bench.tools.Tracer;

/// Runs variants, each in its own process, and measures the ticks of their calls.
final class CallRun {
    private static final long PAUSE_NANOS = 1_000_000;

    private final Map<Build, Path> programs = new EnumMap<>(Build.class);

    private CallRun() {}

    /// Compiles the programs that the variants call.
    static CallRun compile(List<CallVariant> variants) throws IOException, InterruptedException {
        CallRun run = new CallRun();
        for (CallVariant variant : variants) {
            Build build = variant.build;
            if (variant.absence == null && !run.programs.containsKey(build)) {
                run.programs.put(
                        build,
                        build.compile(
                                SourceTree.scratch("calls-" + build.name()).resolve("calls"),
                                List.of("-O2"),
                                List.of(SourceTree.source("calls.c"))));
            }
        }
        return run;
    }

    /// Runs one round; if it is invalid, the variant gets the reason.
    Ticks ticks(CallVariant variant) throws IOException, InterruptedException {
        if (variant.absence != null) {
            return Ticks.NONE;
        }
        Path program = Objects.requireNonNull(programs.get(variant.build));
        Path directory = SourceTree.scratch("run");
        Ticks ticks = Ticks.NONE;
        String problem = null;
        long calls;
        try (CallLoop loop = new CallLoop(variant.tracer.start(program, directory))) {
            Pause pause = variant.calls.pauses() ? () -> LockSupport.parkNanos(PAUSE_NANOS) : () -> {};
            try {
                for (int i = 0; i < variant.calls.warmUps(); i++) {
                    double unused = repeat(variant.calls, loop, pause);
                }
                ticks = new Ticks(repeat(variant.calls, loop, pause), 0);
            } catch (TimeoutException e) {
                problem = e.getMessage();
            }
            calls = loop.calls();
        } catch (CallLoop.NotStartedException e) {
            variant.problem = "it does not start: "
                    + Files.readString(Tracer.complaints(directory))
                            .lines()
                            .findFirst()
                            .orElse(e.getMessage());
            return Ticks.NONE;
        }
        String seen = variant.tracer.problem(program, directory, calls);
        if (seen != null || problem != null) {
            variant.problem = seen != null ? seen : problem;
            return Ticks.NONE;
        }
        return ticks;
    }

    private interface Pause {
        void take() throws IOException, TimeoutException;
    }

    private static double repeat(Calls calls, CallLoop loop, Pause pause) throws IOException, TimeoutException {
        double[] ticks = new double[calls.repeats()];
        for (int i = 0; i < ticks.length; i++) {
            pause.take();
            ticks[i] = loop.ticks(calls.count());
        }
        pause.take();
        return Percentile.median(ticks);
    }
}
