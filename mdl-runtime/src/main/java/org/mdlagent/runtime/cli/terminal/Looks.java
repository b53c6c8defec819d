package org.mdlagent.runtime.cli.terminal;

import java.io.IOException;
import java.io.InterruptedIOException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// How often a command looks at a running program: the options that `mdl top` and `mdl watch` share.
public final class Looks {
    private static final double INTERVAL_MIN = 0.05;

    @Option(names = "--interval", paramLabel = "SECONDS", description = "Between two looks (1).")
    private double interval = 1;

    @Option(names = "--count", paramLabel = "N", description = "End after N looks, as plain text.")
    private @Nullable Integer count;

    /// @throws CommandFailure when a value is not possible
    public void check() {
        CommandFailure.check(
                interval >= INTERVAL_MIN, "--interval=" + interval, "an interval is a number of seconds from 0.05");
        CommandFailure.check(count == null || count > 0, "--count=" + count, "a count is a number from 1");
    }

    /// Whether there is no end but that of the program.
    public boolean areEndless() {
        return count == null;
    }

    /// Whether there is another look after so many.
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
