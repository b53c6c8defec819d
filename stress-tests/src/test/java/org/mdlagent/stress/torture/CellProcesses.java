package org.mdlagent.stress.torture;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// Runs cells in separate processes, several in each, and finds the cell that has killed a process.
final class CellProcesses {
    /// Time beyond a cell's own after which its process is considered stuck.
    private static final long PATIENCE_SECONDS = 60;

    /// Prefix of the line with the signal in a JVM's crash message.
    private static final String CRASH = "#  ";

    private static final int SIGTRAP = 5;

    private final Path harness;

    CellProcesses(Path harness) {
        this.harness = harness;
    }

    /// @param nanos   for each cell
    /// @param toggles of each split at least, however long it takes; 0 to go by time
    /// @param begun   gets the name of each that begins
    /// @return a result for each name, in order
    List<CellResult> run(List<String> names, long nanos, long toggles, Consumer<String> begun) {
        List<CellResult> results = new ArrayList<>();
        while (results.size() < names.size()) {
            List<String> rest = names.subList(results.size(), names.size());
            results.addAll(runProcess(rest, nanos, toggles, begun));
        }
        return results;
    }

    /// Results up to the end of the list, or to the cell in which the process died.
    private List<CellResult> runProcess(List<String> names, long nanos, long toggles, Consumer<String> begun) {
        List<CellResult> results = new ArrayList<>();
        try {
            Process process = start(names, nanos, toggles);
            Watchdog watchdog = new Watchdog(process, toggles > 0 ? Long.MAX_VALUE : patience(nanos));
            String said = "";
            boolean began = false;
            try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
                for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                    watchdog.reset();
                    if (line.startsWith(CellProcess.BEGIN)) {
                        began = true;
                        begun.accept(line.substring(CellProcess.BEGIN.length()));
                    } else if (line.startsWith(CellProcess.END)) {
                        results.add(CellResult.parse(line.substring(CellProcess.END.length())));
                    } else if (said.isEmpty() && (!began || line.startsWith(CRASH))) {
                        said = line;
                    }
                }
            }
            int status = process.waitFor();
            if (results.size() < names.size()) {
                String name = names.get(results.size());
                results.add(began ? died(name, status, watchdog.hasBarked(), said) : notStarted(name, said));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return results;
    }

    private static long patience(long nanos) {
        return TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS) + Math.max(nanos, Twin.NANOS_MAX);
    }

    private Process start(List<String> names, long nanos, long toggles) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
                "-Xmx512m",
                "-XX:+UseSerialGC",
                // A crash is a result here: write no files.
                "-XX:+ErrorFileToStdout",
                "-XX:ErrorLogTimeout=3",
                "-XX:-CreateCoredumpOnCrash",
                "-cp",
                System.getProperty("java.class.path"),
                CellProcess.class.getName(),
                harness.toString(),
                Long.toString(nanos),
                Long.toString(toggles)));
        command.addAll(names);
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    private static CellResult died(String name, int status, boolean stuck, String said) {
        CellResult result = new CellResult(name);
        result.add(stuck ? "stalled" : "wrong", 1);
        result.tell(
                stuck
                        ? "its process was stuck and had to be killed"
                        : "its process died of " + (said.isEmpty() ? signal(status) : said.substring(CRASH.length())));
        return result;
    }

    /// As in shells, a signal's exit status is above 128.
    private static String signal(int status) {
        return status == 128 + SIGTRAP ? "SIGTRAP" : "status " + status;
    }

    private static CellResult notStarted(String name, String said) {
        CellResult result = new CellResult(name);
        result.fail("its process did not start: " + said);
        return result;
    }

    /// Kills a process that is silent for too long.
    private static final class Watchdog {
        private final Process process;
        private final long patience;
        private volatile long last = System.nanoTime();
        private volatile boolean barked;

        Watchdog(Process process, long patience) {
            this.process = process;
            this.patience = patience;
            var unused = Thread.ofVirtual().start(this::watch);
        }

        private void watch() {
            try {
                while (!process.waitFor(1, TimeUnit.SECONDS)) {
                    if (System.nanoTime() - last > patience) {
                        barked = true;
                        var unused = process.destroyForcibly();
                    }
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        void reset() {
            last = System.nanoTime();
        }

        boolean hasBarked() {
            return barked;
        }
    }
}
