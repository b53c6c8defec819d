package org.mdlagent.stress.torture;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.function.Predicate;
import org.mdlagent.stress.torture.Cell.Interference;
import org.mdlagent.stress.torture.Cell.Mode;
import org.mdlagent.stress.torture.Cell.Sync;

/// All cells: for each protocol a pairwise covering set of the dimensions' values, and a few cells that toggle as
/// fast as possible, for large numbers. The offset is no dimension, because every cell has sites at all offsets.
final class Matrix {
    private static final long SEED = 20160613;
    private static final int CANDIDATES = 60;
    private static final int MANY = 16;
    private static final List<Integer> UNITS = List.of(8, 64);

    private Matrix() {}

    /// By name, in a fixed order.
    static Map<String, Cell> cells() {
        List<Cell> cells = new ArrayList<>(pairwise(
                Arrays.stream(Kind.values()).filter(kind -> kind.form() == null).toList(),
                List.of(Mode.PATCH, Mode.START, Mode.PATCH_ALL)));
        cells.addAll(pairwise(
                Arrays.stream(Kind.values())
                        .filter(kind -> kind.form() != null && !kind.isPun())
                        .toList(),
                List.of(Mode.TOGGLE, Mode.TOGGLE_ALL, Mode.RETARGET, Mode.ATTACH)));
        cells.addAll(pairwise(
                Arrays.stream(Kind.values()).filter(Kind::isPun).toList(),
                List.of(Mode.TOGGLE, Mode.TOGGLE_ALL, Mode.ATTACH)));
        for (int unit : UNITS) {
            for (Kind kind : Kind.values()) {
                if (kind.form() != null) {
                    cells.add(fast(kind, unit, Sync.MEMBARRIER, Mode.TOGGLE_ALL, Interference.NONE));
                }
            }
            cells.add(fast(Kind.LEA_8, unit, Sync.TMAX, Mode.PATCH_ALL, Interference.NONE));
            cells.add(fast(Kind.CALL_CALL, unit, Sync.TMAX, Mode.PATCH_ALL, Interference.BLOCKED));
            cells.add(fast(Kind.CALL_NOP, unit, Sync.MEMBARRIER, Mode.PATCH_ALL, Interference.NONE));
        }
        // Jumps that come in steps, in a process that is attached to and has a child.
        for (Kind kind : Kind.values()) {
            if (kind.isCut()) {
                cells.add(new Cell(kind, 8, Sync.TMAX, Mode.ATTACH, 2, true, 1, Interference.FORK, 1, true));
            }
        }
        // Many sites that are installed one by one while they are executed.
        cells.add(new Cell(Kind.HOOK_CALL, 8, Sync.MEMBARRIER, Mode.TOGGLE, 1, true, 1, Interference.NONE, MANY, true));
        Map<String, Cell> byName = new LinkedHashMap<>();
        cells.forEach(cell -> byName.put(cell.name(), cell));
        return byName;
    }

    /// One executor on a core of its own, one patcher, sites of all splits in equal numbers.
    private static Cell fast(Kind kind, int unit, Sync sync, Mode mode, Interference interference) {
        int copies = mode.isWordPatch() ? 2 * MANY : 4 * MANY;
        return new Cell(kind, unit, sync, mode, 1, true, 1, interference, copies, false);
    }

    private static List<Cell> pairwise(List<Kind> kinds, List<Mode> modes) {
        List<List<?>> dimensions = List.of(
                kinds,
                UNITS,
                List.of(Sync.values()),
                modes,
                List.of(1, 2, 3, 4),
                List.of(true, false),
                List.of(1, 2, 3),
                List.of(Interference.values()));
        Function<Object[], Cell> cell = values -> new Cell(
                (Kind) values[0],
                (int) values[1],
                (Sync) values[2],
                (Mode) values[3],
                (int) values[4],
                (boolean) values[5],
                (int) values[6],
                (Interference) values[7],
                1,
                true);
        List<Cell> cells = new ArrayList<>();
        for (Object[] values : covering(dimensions, values -> isPossible(cell.apply(values)))) {
            cells.add(cell.apply(values));
        }
        return cells;
    }

    /// A barrier reaches no other process.
    private static boolean isPossible(Cell cell) {
        return cell.interference() != Interference.FORK || cell.sync() == Sync.TMAX;
    }

    /// A greedy pairwise covering: each row is the best of several random rows around a missing pair.
    private static List<Object[]> covering(List<List<?>> dimensions, Predicate<Object[]> isPossible) {
        SplittableRandom random = new SplittableRandom(SEED);
        Set<Pair> missing = new HashSet<>();
        List<Pair> inOrder = new ArrayList<>();
        for (int i = 0; i < dimensions.size(); i++) {
            for (int j = i + 1; j < dimensions.size(); j++) {
                for (Object first : dimensions.get(i)) {
                    for (Object second : dimensions.get(j)) {
                        inOrder.add(new Pair(i, first, j, second));
                    }
                }
            }
        }
        missing.addAll(inOrder);
        List<Object[]> rows = new ArrayList<>();
        for (Pair wanted : inOrder) {
            if (!missing.contains(wanted)) {
                continue;
            }
            Object[] best = null;
            int bestGain = 0;
            for (int candidate = 0; candidate < CANDIDATES; candidate++) {
                Object[] row = new Object[dimensions.size()];
                for (int i = 0; i < row.length; i++) {
                    List<?> values = dimensions.get(i);
                    row[i] = values.get(random.nextInt(values.size()));
                }
                row[wanted.first] = wanted.firstValue;
                row[wanted.second] = wanted.secondValue;
                int gain = (int) pairs(row).stream().filter(missing::contains).count();
                if (gain > bestGain && isPossible.test(row)) {
                    best = row;
                    bestGain = gain;
                }
            }
            if (best != null) { // otherwise the pair is impossible
                rows.add(best);
                missing.removeAll(pairs(best));
            }
        }
        return rows;
    }

    private static List<Pair> pairs(Object[] row) {
        List<Pair> pairs = new ArrayList<>();
        for (int i = 0; i < row.length; i++) {
            for (int j = i + 1; j < row.length; j++) {
                pairs.add(new Pair(i, row[i], j, row[j]));
            }
        }
        return pairs;
    }

    private record Pair(int first, Object firstValue, int second, Object secondValue) {}
}
