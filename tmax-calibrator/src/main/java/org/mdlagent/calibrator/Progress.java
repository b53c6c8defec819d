package org.mdlagent.calibrator;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;

/// A progress bar on stderr, if it is a terminal.
final class Progress {
    private static final int WIDTH = 30;
    private static final String ERASE_LINE = "\r\033[K";

    private final PrintWriter err;
    private final boolean visible;
    private final long start = System.nanoTime();
    private final double totalMillis;
    private double doneMillis;

    /// @param totalMillis of all steps together
    Progress(PrintWriter err, boolean visible, double totalMillis) {
        this.err = err;
        this.visible = visible;
        this.totalMillis = totalMillis;
    }

    static boolean isTerminal(int descriptor) {
        try {
            String target = Files.readSymbolicLink(Path.of("/proc/self/fd", Integer.toString(descriptor)))
                    .toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty") || target.equals("/dev/console");
        } catch (IOException e) {
            return false;
        }
    }

    /// Announces the next step.
    void show(String what) {
        if (!visible) {
            return;
        }
        double share = Math.min(1, doneMillis / totalMillis);
        int filled = (int) (share * WIDTH);
        double elapsed = (System.nanoTime() - start) / 1e9;
        double left = Math.max(0, totalMillis / 1e3 - elapsed);
        err.print(ERASE_LINE + "▕" + "█".repeat(filled) + " ".repeat(WIDTH - filled) + "▏ " + Math.round(100 * share)
                + " %  " + Math.round(left) + " s left · " + what);
        err.flush();
    }

    void step(double millis) {
        doneMillis += millis;
    }

    void end() {
        if (visible) {
            err.print(ERASE_LINE);
            err.flush();
        }
    }
}
