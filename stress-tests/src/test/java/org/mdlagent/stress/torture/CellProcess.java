package org.mdlagent.stress.torture;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A process that runs cells in sequence and reports each by a line. The cell that is running when it dies has
/// killed it.
final class CellProcess {
    static final String BEGIN = "BEGIN ";
    static final String END = "END ";

    private CellProcess() {}

    /// @param arguments the harness library, nanoseconds for each cell, toggles of each split or 0, names
    public static void main(String[] arguments) throws IOException {
        long nanos = Long.parseLong(arguments[1]);
        long toggles = Long.parseLong(arguments[2]);
        Laboratory laboratory = Laboratory.open(Path.of(arguments[0]));
        Map<String, Cell> cells = Matrix.cells();
        for (int i = 3; i < arguments.length; i++) {
            String name = arguments[i];
            System.out.println(BEGIN + name);
            System.out.println(
                    END + run(laboratory, cells.get(name), name, nanos, toggles).line());
        }
        // Executors or patchers that do not end would keep the process alive.
        Runtime.getRuntime().halt(0);
    }

    /// A bug of the test is not a crash; crashes are the patched code's.
    private static CellResult run(Laboratory laboratory, @Nullable Cell cell, String name, long nanos, long toggles) {
        try {
            return name.equals(Throughput.NAME)
                    ? Throughput.measure(laboratory)
                    : runCell(laboratory, cell, name, nanos, toggles);
        } catch (IOException | RuntimeException | Error e) {
            CellResult failure = new CellResult(name);
            failure.fail(e.toString());
            return failure;
        }
    }

    private static CellResult runCell(Laboratory laboratory, @Nullable Cell cell, String name, long nanos, long toggles)
            throws IOException {
        if (cell != null) {
            return new CellRun(laboratory, cell, name, Breakage.NONE).run(nanos, toggles, false);
        }
        for (Twin twin : Twin.values()) {
            if (twin.label().equals(name)) {
                return new CellRun(laboratory, twin.cell(), name, twin).run(Twin.NANOS_MAX, 0, true);
            }
        }
        throw new IllegalArgumentException("no cell " + name);
    }
}
