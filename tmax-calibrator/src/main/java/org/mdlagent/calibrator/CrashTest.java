package org.mdlagent.calibrator;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// The crash test of "Living on the Edge" (PLDI 2016, section 3): a call that straddles a boundary is toggled, by
/// INT3 and a wait, while other threads execute it. Each trial runs in its own process, which a wrong instruction
/// kills.
///
/// Its twin toggles by two stores without INT3, which must fail: if it does not, the row proves nothing, and its
/// toggles do not count.
final class CrashTest {
    /// Ticks. The ladder keeps doubling while its highest step fails.
    static final List<Long> WAITS = List.of(0L, 100L, 200L, 400L, 800L, 1600L, 3200L);

    private static final long WAIT_MAX = 1 << 20;
    private static final int SPLITS = 4;
    private static final int TWIN_ATTEMPTS = 10;

    private final Trial trial;
    private final int patcher;
    private final List<List<Integer>> executors;
    private final Map<Row, TreeMap<Long, Cell>> cells = new LinkedHashMap<>();
    private final Map<Row, Cell> twins = new LinkedHashMap<>();

    /// @param split bytes of the call before the boundary; the others are after it
    record Row(Boundary boundary, int split) {}

    /// @param toggles without a failure, or up to it
    record Cell(long toggles, boolean failed) {}

    /// @param atomicUnit within which a store is atomic for fetch: only what crosses one is a straddler
    /// @param executors  processors of the executors, for each number of them that is tried
    CrashTest(Trial trial, int atomicUnit, int patcher, List<List<Integer>> executors) {
        this.trial = trial;
        this.patcher = patcher;
        this.executors = List.copyOf(executors);
        for (Boundary boundary : Boundary.values()) {
            for (int split = 1; boundary.bytes() >= atomicUnit && split <= SPLITS; split++) {
                cells.put(new Row(boundary, split), new TreeMap<>());
            }
        }
    }

    List<Row> rows() {
        return List.copyOf(cells.keySet());
    }

    int executorsMax() {
        return executors.stream().mapToInt(List::size).max().orElse(0);
    }

    /// Provokes a failure of unlocked patching: within milliseconds; a busy machine may need a second try.
    void runTwin(Row row, int millis) throws IOException {
        long toggles = 0;
        boolean failed = false;
        for (int attempt = 0; attempt < TWIN_ATTEMPTS && !failed; attempt++) {
            Trial.PatchRun run = trial.patch(
                    false, row.boundary(), row.split(), 0, millis, patcher, executors.get(attempt % executors.size()));
            toggles += run.toggles();
            failed = run.failed();
        }
        twins.put(row, new Cell(toggles, failed));
    }

    /// @param millis for all numbers of executors together
    void run(Row row, long waitTicks, int millis) throws IOException {
        long toggles = 0;
        boolean failed = false;
        for (int i = 0; i < executors.size() && !failed; i++) {
            Trial.PatchRun run = trial.patch(
                    true,
                    row.boundary(),
                    row.split(),
                    waitTicks,
                    Math.max(1, millis / executors.size()),
                    patcher,
                    executors.get(i));
            toggles += run.toggles();
            failed = run.failed();
        }
        add(row, waitTicks, new Cell(toggles, failed));
    }

    void add(Row row, long waitTicks, Cell cell) {
        cells.computeIfAbsent(row, unused -> new TreeMap<>()).put(waitTicks, cell);
    }

    void addTwin(Row row, Cell cell) {
        twins.put(row, cell);
    }

    /// The next wait to try if the highest one still failed, else 0.
    long nextWait() throws CalibrationFailure {
        long highest = waits().getLast();
        if (failingWait() < highest) {
            return 0;
        }
        if (highest >= WAIT_MAX) {
            throw new CalibrationFailure(
                    "patching still fails after a wait of " + highest + " ticks",
                    "there is no T_max here; the agent goes on using membarrier");
        }
        return 2 * highest;
    }

    /// All tried waits, ascending.
    List<Long> waits() {
        return cells.values().stream()
                .flatMap(row -> row.keySet().stream())
                .distinct()
                .sorted()
                .toList();
    }

    Cell cell(Row row, long waitTicks) {
        return cells.getOrDefault(row, new TreeMap<>()).getOrDefault(waitTicks, new Cell(0, false));
    }

    Cell twin(Row row) {
        return twins.getOrDefault(row, new Cell(0, false));
    }

    boolean anyTwinFailed() {
        return twins.values().stream().anyMatch(Cell::failed);
    }

    /// The longest wait at which patching failed in any row, or -1.
    long failingWait() {
        long longest = -1;
        for (TreeMap<Long, Cell> row : cells.values()) {
            for (Map.Entry<Long, Cell> entry : row.entrySet()) {
                if (entry.getValue().failed()) {
                    longest = Math.max(longest, entry.getKey());
                }
            }
        }
        return longest;
    }

    /// Toggles at waits longer than the failing ones, in rows where unlocked patching fails.
    long toggles() {
        long failing = failingWait();
        long toggles = 0;
        for (Map.Entry<Row, TreeMap<Long, Cell>> row : cells.entrySet()) {
            if (twin(row.getKey()).failed()) {
                toggles += row.getValue().tailMap(failing, false).values().stream()
                        .mapToLong(Cell::toggles)
                        .sum();
            }
        }
        return toggles;
    }

    /// Toggles until unlocked patching failed, by row.
    List<Long> togglesOfTwins() {
        List<Long> toggles = new ArrayList<>();
        twins.values().stream().filter(Cell::failed).map(Cell::toggles).forEach(toggles::add);
        return toggles;
    }
}
