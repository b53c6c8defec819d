package org.mdlagent.bench.probes;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/// A running `calls.c`, which calls an empty function on request.
final class CallLoop implements AutoCloseable {
    private static final long END_SECONDS_MAX = 60;

    private final Process process;
    private final BufferedReader answers;
    private final Writer requests;
    private long calls;

    /// The program did not print its first line.
    static final class NotStartedException extends IOException {
        private static final long serialVersionUID = 1;

        private NotStartedException(String message) {
            super(message);
        }
    }

    /// @param program starts it, directly or not; returns when it is ready
    CallLoop(ProcessBuilder program) throws IOException {
        process = program.start();
        answers = process.inputReader();
        requests = process.outputWriter();
        String first = answers.readLine();
        if (!"ready".equals(first)) {
            process.destroyForcibly();
            throw new NotStartedException(program.command() + " says " + first);
        }
    }

    long pid() {
        return process.pid();
    }

    /// The number in a line of `/proc/PID/status`, memory in KiB.
    long status(String field) throws IOException {
        return Files.readAllLines(Path.of("/proc", Long.toString(pid()), "status")).stream()
                .filter(line -> line.startsWith(field))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
                .findFirst()
                .orElseThrow();
    }

    /// Calls made so far.
    long calls() {
        return calls;
    }

    /// Average ticks per call over a number of calls.
    double ticks(int count) throws IOException {
        requests.write(count + "\n");
        requests.flush();
        calls += count;
        String answer = answers.readLine();
        if (answer == null) {
            throw new IOException("the program has ended early");
        }
        return (double) Long.parseLong(answer) / count;
    }

    /// Ends the program, and waits for it and its tracer.
    @Override
    public void close() throws IOException {
        try {
            requests.close();
            while (answers.readLine() != null) {
                // Tools print their results.
            }
            if (!process.waitFor(END_SECONDS_MAX, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IOException("the program did not end well");
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        } finally {
            process.destroyForcibly();
        }
    }
}
