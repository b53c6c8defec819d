package org.mdlagent.runtime.cli.terminal;

import java.io.IOException;
import java.io.InterruptedIOException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// The options shared by `mdl top` and `mdl watch`: poll interval and number of looks.
public final class Looks {
    private static final double INTERVAL_MIN = 0.05;

    @Option(names = "--interval", paramLabel = "SECONDS", description = "Between two looks (1).")
    private double interval = 1;

    @Option(names = "--count", paramLabel = "N", description = "End after N looks, as plain text.")
    private @Nullable Integer count;

    /// @throws CommandFailure when a value is invalid
    public void check() {
        CommandFailure.check(
                interval >= INTERVAL_MIN, "--interval=" + interval, "an interval is a number of seconds from 0.05");
        CommandFailure.check(count == null || count > 0, "--count=" + count, "a count is a number from 1");
    }

    /// Whether looks end only with the program.
    public boolean areEndless() {
        return count == null;
    }

    /// Whether another look follows after `done` looks.
    public boolean goOn(int done) {
        return count == null || done < count;
    }

    public long intervalNanos() {
        return (long) (interval * 1e9);
    }

    /// Waits for the next look.
    public void pause() throws IOException {
        try {
            Thread.sleep((long) (interval * 1000));
        } catch (InterruptedException e) {
            throw new InterruptedIOException();
        }
    }
}
