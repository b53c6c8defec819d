package org.mdlagent.calibrator;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.cpu.Calibration;
import org.mdlagent.arch.cpu.CpuIdentity;
import org.mdlagent.arch.cpu.KnownCalibration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `mdl calibrate`: measures T_max of this machine and stores it for the agent.
///
/// Probes of unmodified functions wait for T_max where an atomic unit splits the function's entry.
///
/// The command line finds it as a service; no module depends on this one.
@Command(
        name = "calibrate",
        description =
                "Measure how soon all processors see new code (T_max). Probes in unmodified code wait for it, where"
                        + " one store cannot switch them.",
        sortOptions = false)
public final class CalibrateCommand implements Callable<Integer> {
    private static final int FAILED = 1;
    private static final int PAIRS_MAX = 4;
    private static final List<Integer> EXECUTORS = List.of(2, 4, 6);
    private static final int TWIN_MILLIS = 100;
    private static final double CELL_MILLIS_MIN = 10;

    /// Tolerated share of samples seen before their store: a machine migrated to another host has some.
    private static final double SKEWED_MAX = 1e-5;

    private final Path program;

    /// As [Calibration#files].
    private final List<Path> files;

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Option(names = "--quick", description = "At most 20 seconds, in place of some minutes.")
    private boolean quick;

    @Option(names = "--machine", description = "For all users: write /etc/mdl/tmax.properties.")
    private boolean machine;

    @Option(names = "--if-unknown", description = "Do nothing if T_max of this processor is known.")
    private boolean ifUnknown;

    /// @param latencyMillis of all pairs and rounds
    /// @param crashMillis   of all rows and waits
    record Budget(int latencyMillis, int crashMillis) {
        static final Budget QUICK = new Budget(4_000, 11_000);
        static final Budget FULL = new Budget(60_000, 150_000);
    }

    public CalibrateCommand() {
        this(
                installation().resolve("lib/mdl-calibrate-trial"),
                Calibration.files(System.getenv("XDG_STATE_HOME"), System.getenv("HOME")));
    }

    /// @param program the native one that measures
    /// @param files   the user's and the machine's
    CalibrateCommand(Path program, List<Path> files) {
        this.program = program;
        this.files = files;
    }

    /// The directory that holds the runtime image of this process.
    private static Path installation() {
        Path runtime = Path.of(System.getProperty("java.home"));
        Path parent = runtime.getParent();
        return parent == null ? runtime : parent;
    }

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        Path file = machine ? files.getLast() : files.getFirst();
        try {
            if (ifUnknown && isKnown()) {
                return 0;
            }
            CalibrationReport report = measure(quick ? Budget.QUICK : Budget.FULL, err);
            report.write(out);
            report.calibration().write(file);
            out.println("written to  " + file);
            out.flush();
            return 0;
        } catch (CalibrationFailure e) {
            err.println("mdl: " + e.getMessage());
            err.println("     " + e.remedy());
            return FAILED;
        }
    }

    private Trial trial() throws CalibrationFailure {
        if (!Files.isExecutable(program)) {
            throw new CalibrationFailure(program + " is missing", "build anew, or install again");
        }
        return new Trial(program);
    }

    private boolean isKnown() throws IOException, CalibrationFailure {
        return KnownCalibration.find(trial().machine(), machine ? List.of(files.getLast()) : files, ignored -> {})
                != null;
    }

    private CalibrationReport measure(Budget budget, PrintWriter err) throws IOException, CalibrationFailure {
        Trial trial = trial();
        CpuIdentity cpu = trial.machine();
        if (!cpu.tscInvariant()) {
            throw new CalibrationFailure(
                    "the time-stamp counter is not known to be invariant, so T_max cannot be told in its ticks",
                    "the agent goes on using membarrier");
        }
        Processors processors = Processors.ofProcess();
        if (processors.list().size() < 2) {
            throw new CalibrationFailure(
                    "only one processor may be used, and T_max is about what others see",
                    "allow more (taskset, cpuset); the agent goes on using membarrier");
        }
        List<Processors.Pair> pairs = processors.pairs(PAIRS_MAX);
        List<List<Integer>> executors = executors(processors);
        CrashTest crashes = new CrashTest(
                trial, InstructionSet.host().atomicUnit(), processors.patcher().number(), executors);
        VisibilityLatency latency = new VisibilityLatency();
        Progress progress =
                new Progress(err, Progress.isTerminal(2), budget.latencyMillis + (double) budget.crashMillis);
        try {
            for (int round = 0; round < VisibilityLatency.ROUNDS; round++) {
                progress.show("visibility latency");
                int millis = Math.max(1, budget.latencyMillis / VisibilityLatency.ROUNDS / pairs.size());
                latency.measureRound(trial, cpu.tscHz(), pairs, millis);
                progress.step(budget.latencyMillis / (double) VisibilityLatency.ROUNDS);
            }
            crash(crashes, budget.crashMillis, progress);
        } finally {
            progress.end();
        }
        return new CalibrationReport(result(cpu, latency, crashes), processors, latency, crashes);
    }

    private static List<List<Integer>> executors(Processors processors) {
        int most = processors.list().size() - 1;
        List<List<Integer>> executors = new ArrayList<>(EXECUTORS.stream()
                .filter(count -> count <= most)
                .map(processors::executors)
                .toList());
        if (executors.isEmpty()) {
            executors.add(processors.executors(most));
        }
        return executors;
    }

    private static void crash(CrashTest crashes, int millis, Progress progress) throws IOException, CalibrationFailure {
        long end = System.nanoTime() + millis * 1_000_000L;
        List<CrashTest.Row> rows = crashes.rows();
        progress.show("crash test, unlocked");
        for (CrashTest.Row row : rows) {
            crashes.runTwin(row, TWIN_MILLIS);
        }
        if (!crashes.anyTwinFailed()) {
            throw new CalibrationFailure(
                    "unlocked patching did not fail, so that the crash test shows nothing on this machine",
                    "try again when it is less busy; the agent goes on using membarrier");
        }
        List<Long> waits = new ArrayList<>(CrashTest.WAITS);
        int cells = waits.size() * rows.size();
        double step = millis / (double) cells;
        for (int i = 0; i < waits.size(); i++) {
            for (CrashTest.Row row : rows) {
                progress.show("crash test, wait of " + waits.get(i) + " ticks");
                // Time of twins and process starts reduces the rest. Steps beyond the ladder are not planned.
                double left = (end - System.nanoTime()) / 1e6 / Math.max(1, cells--);
                crashes.run(row, waits.get(i), (int) (cells < 0 ? step : Math.clamp(left, CELL_MILLIS_MIN, step)));
                progress.step(step);
            }
            if (i == waits.size() - 1 && crashes.nextWait() > 0) {
                waits.add(crashes.nextWait());
            }
        }
    }

    private static Calibration result(CpuIdentity cpu, VisibilityLatency latency, CrashTest crashes)
            throws CalibrationFailure {
        if (latency.samples() == 0 || crashes.toggles() == 0) {
            throw new CalibrationFailure(
                    "this machine is too busy: nothing could be measured without interruptions",
                    "try again later; the agent goes on using membarrier");
        }
        if (latency.skewed() > SKEWED_MAX * latency.samples()) {
            throw new CalibrationFailure(
                    "the processors' time-stamp counters are apart: code was seen before it was stored",
                    "the agent goes on using membarrier");
        }
        Tmax tmax = Tmax.of(latency, crashes);
        return new Calibration(
                cpu,
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
                tmax.ticks(),
                Tmax.FACTOR,
                Tmax.FLOOR_TICKS,
                crashes.failingWait(),
                latency.max(),
                latency.samples(),
                crashes.toggles(),
                tmax.lowTicks(),
                tmax.highTicks());
    }
}
