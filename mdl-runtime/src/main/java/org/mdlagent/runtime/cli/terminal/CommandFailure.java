package org.mdlagent.runtime.cli.terminal;

import org.jspecify.annotations.Nullable;

/// A command cannot do what was asked: ends it with the message, and a remedy, on stderr.
public final class CommandFailure extends RuntimeException {
    private static final long serialVersionUID = 1;

    /// Exit status of a failure.
    public static final int FAILED = 1;

    /// Exit status of wrong usage.
    public static final int USAGE = 2;

    private final int status;
    private final @Nullable String remedy;

    private CommandFailure(int status, String message, @Nullable String remedy) {
        super(message);
        this.status = status;
        this.remedy = remedy;
    }

    public static CommandFailure failed(String message, @Nullable String remedy) {
        return new CommandFailure(FAILED, message, remedy);
    }

    public static CommandFailure usage(String message, @Nullable String remedy) {
        return new CommandFailure(USAGE, message, remedy);
    }

    /// @throws CommandFailure when the option's value is invalid
    public static void check(boolean possible, String option, String remedy) {
        if (!possible) {
            throw usage(option + " is not possible", remedy);
        }
    }

    public int status() {
        return status;
    }

    @Nullable
    public String remedy() {
        return remedy;
    }
}
