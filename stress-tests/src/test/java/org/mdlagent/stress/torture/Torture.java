package org.mdlagent.stress.torture;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;

/// The torture as a command: `mdl torture [--minutes N] [--cell GLOB] [--until-toggles N]`.
///
/// The time is divided among the cells. The twins always run, because without them success proves nothing. A cell
/// whose rules promise more than this processor (atomic unit 64 instead of 8) runs and is reported, but does not
/// count, because the agent never applies those rules here.
public final class Torture {
    private static final int CELLS_PER_PROCESS = 8;
    private static final long NANOS_PER_MINUTE = 60_000_000_000L;
    private static final long CELL_NANOS_MIN = 200_000_000;

    /// Overhead of a cell beyond its time: its sites, and its share of a process.
    private static final long CELL_OVERHEAD_NANOS = 150_000_000;

    private final Path harness;
    private final PrintStream out;
    private final PrintStream progress;
    private final boolean showsProgress;

    /// The arguments.
    ///
    /// @param minutes for all
    /// @param glob    of the names of cells
    /// @param toggles of each split of each cell at least, in place of the minutes; 0 for none
    record Options(double minutes, String glob, long toggles) {
        static final String USAGE = "mdl torture [--minutes N] [--cell GLOB] [--until-toggles N]";

        static Options parse(String[] arguments) {
            Options options = new Options(1, "*", 0);
            for (int i = 0; i < arguments.length; i += 2) {
                if (i + 1 == arguments.length) {
                    throw new IllegalArgumentException(arguments[i] + " needs a value");
                }
                String value = arguments[i + 1];
                options = switch (arguments[i]) {
                    case "--minutes" -> new Options(positive(value), options.glob, options.toggles);
                    case "--cell" -> new Options(options.minutes, value, options.toggles);
                    case "--until-toggles" -> new Options(options.minutes, options.glob, (long) positive(value));
                    default -> throw new IllegalArgumentException("unknown option " + arguments[i]);
                };
            }
            return options;
        }

        private static double positive(String value) {
            try {
                double number = Double.parseDouble(value);
                if (number > 0 && number < Long.MAX_VALUE) {
                    return number;
                }
            } catch (NumberFormatException e) {
                // Reported below.
            }
            throw new IllegalArgumentException("not a positive number: " + value);
        }
    }

    /// All results.
    ///
    /// @param cells      of cells, in order
    /// @param beyond     of those among them whose rules this processor does not promise
    /// @param twins      of the broken twins
    /// @param throughput of an executor whose patcher is stopped
    record Summary(List<CellResult> cells, List<CellResult> beyond, List<CellResult> twins, CellResult throughput) {
        long toggles() {
            return sum(cells, "toggles") - sum(beyond, "toggles");
        }

        long executions() {
            return sum(cells, "executions") - sum(beyond, "executions");
        }

        long wrong() {
            return sum(cells, "wrong") - sum(beyond, "wrong") + throughput.get("wrong");
        }

        long stalled() {
            return sum(cells, "stalled") - sum(beyond, "stalled") + throughput.get("stalled");
        }

        /// Twins that have failed, as they must.
        long twinsFailed() {
            return twins.stream().filter(CellResult::isBroken).count();
        }

        /// Counted cells that were incomplete.
        List<CellResult> bad() {
            return cells.stream()
                    .filter(cell -> !cell.isGood() && !beyond.contains(cell))
                    .toList();
        }

        boolean isGood() {
            return bad().isEmpty() && throughput.isGood() && twinsFailed() == twins.size();
        }

        static long sum(List<CellResult> results, String key) {
            return results.stream().mapToLong(result -> result.get(key)).sum();
        }

        String line() {
            return "toggles %d executions %d wrong %d stalled %d twins-failed %d/%d"
                    .formatted(toggles(), executions(), wrong(), stalled(), twinsFailed(), twins.size());
        }
    }

    Torture(Path harness, PrintStream out, PrintStream progress, boolean showsProgress) {
        this.harness = harness;
        this.out = out;
        this.progress = progress;
        this.showsProgress = showsProgress;
    }

    /// @param arguments options as of the command
    public static void main(String[] arguments) {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        Options options;
        try {
            options = Options.parse(arguments);
        } catch (IllegalArgumentException e) {
            System.err.println("mdl: torture: " + e.getMessage());
            System.err.println("     " + Options.USAGE);
            System.exit(2);
            return;
        }
        boolean terminal = System.console() != null && System.console().isTerminal();
        Torture torture = new Torture(harness(), out, System.err, terminal);
        Summary summary = torture.run(options);
        if (summary == null) {
            System.err.println("mdl: torture: no cell matches " + options.glob);
            System.err.println(
                    "     names look like " + Matrix.cells().keySet().iterator().next());
            System.exit(2);
            return;
        }
        System.exit(summary.isGood() ? 0 : 1);
    }

    /// The library that the build of the shim leaves.
    static Path harness() {
        Path path = Path.of(System.getProperty("mdl.harness", "native-shim/target/cmake/libmdl_harness.so"));
        if (!Files.exists(path)) {
            throw new IllegalStateException("there is no " + path.toAbsolutePath());
        }
        return path.toAbsolutePath();
    }

    /// @return null if no cell is requested
    @Nullable
    Summary run(Options options) {
        Map<String, Cell> cells = new TreeMap<>(Matrix.cells());
        // A star matches anything, also several parts of a name, so no slashes.
        PathMatcher matcher = FileSystems.getDefault().getPathMatcher("glob:" + options.glob.replace('/', '.'));
        cells.keySet().removeIf(name -> !matcher.matches(Path.of(name.replace('/', '.'))));
        if (cells.isEmpty()) {
            return null;
        }
        long start = System.nanoTime();
        out.printf(
                "%d cells, T_max %,d ticks, atomic unit of this processor %d bytes%n",
                cells.size(), CellRun.TMAX_TICKS, InstructionSet.host().atomicUnit());
        CellProcesses processes = new CellProcesses(harness);
        List<CellResult> twins = new ArrayList<>();
        for (Twin twin : Twin.values()) {
            twins.addAll(processes.run(List.of(twin.label()), 0, 0, this::show));
        }
        CellResult throughput =
                processes.run(List.of(Throughput.NAME), 0, 0, this::show).getFirst();
        long deadline = start + (long) (options.minutes * NANOS_PER_MINUTE);
        List<CellResult> results = run(processes, cells, deadline, options.toggles);
        List<CellResult> beyond = results.stream()
                .filter(result -> isBeyond(cells.get(result.name())))
                .toList();
        Summary summary = new Summary(results, beyond, twins, throughput);
        print(summary, cells, start);
        return summary;
    }

    /// Only the cells, each until it has made a number of toggles of each split.
    List<CellResult> run(Map<String, Cell> cells, long toggles) {
        return run(new CellProcesses(harness), cells, System.nanoTime(), toggles);
    }

    private List<CellResult> run(CellProcesses processes, Map<String, Cell> cells, long deadline, long toggles) {
        List<CellResult> results = new ArrayList<>();
        out.println(TITLE);
        List<String> names = List.copyOf(cells.keySet());
        for (int i = 0; i < names.size(); i += CELLS_PER_PROCESS) {
            long share = (deadline - System.nanoTime()) / (names.size() - i) - CELL_OVERHEAD_NANOS;
            List<String> group = names.subList(i, Math.min(names.size(), i + CELLS_PER_PROCESS));
            List<CellResult> grouped = processes.run(group, Math.max(share, CELL_NANOS_MIN), toggles, this::show);
            show("");
            grouped.forEach(result -> print(result, isBeyond(cells.get(result.name()))));
            results.addAll(grouped);
        }
        return results;
    }

    /// Whether a cell's rules promise more than this processor does.
    static boolean isBeyond(Cell cell) {
        return cell.unit() > InstructionSet.host().atomicUnit();
    }

    private static final String TITLE = "%-66s %13s %13s %13s %11s %7s %7s %13s"
            .formatted("CELL", "TOGGLES", "EXECUTIONS", "CHANGES MET", "TRAPS", "WRONG", "STALLED", "TOGGLES/S");

    private void print(CellResult result, boolean beyond) {
        long nanos = Math.max(1, result.get("nanos"));
        StringBuilder remarks = new StringBuilder();
        if (result.get("stops") > 0) {
            remarks.append("  stopped %d times at %d steps, executions meanwhile >= %,d"
                    .formatted(
                            result.get("stops"),
                            result.get("stoppedAtDifferentSteps"),
                            result.get("fewestWhileStopped")));
        }
        if (beyond) {
            remarks.append("  empirical on this CPU");
        }
        if (!result.detail().isEmpty()) {
            remarks.append("  ").append(result.detail());
        }
        out.printf(
                "%-66s %,13d %,13d %,13d %,11d %7d %7d %,13d%s%n",
                result.name(),
                result.get("toggles"),
                result.get("executions"),
                result.get("changes"),
                result.get("traps"),
                result.get("wrong"),
                result.get("stalled"),
                Math.round(result.get("toggles") * 1e9 / nanos),
                remarks);
    }

    private void print(Summary summary, Map<String, Cell> cells, long start) {
        Map<String, Map<String, Long>> totals = new TreeMap<>();
        for (CellResult result : summary.cells) {
            result.togglesBySplit()
                    .forEach((split, toggles) -> totals.computeIfAbsent(
                                    cells.get(result.name()).protocol(),
                                    protocol -> new TreeMap<>(Torture::compareSplits))
                            .merge(split, toggles, Long::sum));
        }
        totals.forEach(this::printTotals);
        out.println();
        out.println("a straddling call, toggled to a nop and back; executions per second of the thread that runs it,");
        out.println("while the patcher is stopped for 100 ms before a step, and beside, while nobody patches:");
        summary.throughput.numbers((what, rate) -> {
            if (what.startsWith("be")) {
                out.printf("  %-40s %,13d%n", what, rate);
            }
        });
        out.println();
        for (CellResult twin : summary.twins) {
            out.printf(
                    "%s: %s%n",
                    twin.name(),
                    twin.isBroken()
                            ? "broken, as it should be: " + twin.detail()
                            : "NOT SEEN to be broken, in %,d toggles  %s"
                                    .formatted(twin.get("toggles"), twin.detail()));
        }
        for (CellResult cell : summary.bad()) {
            out.printf("FAILED %s: %s%n", cell.name(), cell.detail());
        }
        if (!summary.beyond.isEmpty()) {
            out.printf(
                    "beyond what this processor promises (not counted as wrong): %,d toggles, %d wrong, %d stalled%n",
                    Summary.sum(summary.beyond, "toggles"),
                    Summary.sum(summary.beyond, "wrong"),
                    Summary.sum(summary.beyond, "stalled"));
        }
        out.printf("%,d seconds%n", (System.nanoTime() - start) / 1_000_000_000);
        out.println(summary.line());
    }

    /// Toggles by split, a line for each length.
    private void printTotals(String protocol, Map<String, Long> bySplit) {
        out.printf("%s, toggles by split:", protocol);
        int before = 0;
        for (Map.Entry<String, Long> total : bySplit.entrySet()) {
            if (length(total.getKey()) != before) {
                before = length(total.getKey());
                out.printf("%n  %d bytes", before);
            }
            out.printf("  %s %,d", total.getKey(), total.getValue());
        }
        out.println();
    }

    private static int compareSplits(String a, String b) {
        return length(a) != length(b) ? Integer.compare(length(a), length(b)) : a.compareTo(b);
    }

    private static int length(String split) {
        int bar = split.indexOf('|');
        return Integer.parseInt(split, 0, bar, 10) + Integer.parseInt(split, bar + 1, split.length(), 10);
    }

    private void show(String name) {
        if (showsProgress) {
            progress.print("\r\u001b[K" + name);
            progress.flush();
        }
    }
}
