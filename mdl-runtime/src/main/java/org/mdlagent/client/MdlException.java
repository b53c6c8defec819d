package org.mdlagent.client;

import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.cli.terminal.CommandFailure;

/// Something cannot be done: the message says why, and what to do.
public final class MdlException extends RuntimeException {
    private static final long serialVersionUID = 1;
    private static final String PACKAGE = "org.mdlagent.";

    private final @Nullable String remedy;

    /// @param remedy what to do, null if nothing is known
    MdlException(String message, @Nullable String remedy) {
        super(remedy == null ? message : message + " (" + remedy + ")");
        this.remedy = remedy;
        beginInScript();
    }

    private MdlException(IOException cause) {
        super(cause.toString(), cause); // the message may be a path alone
        remedy = null;
        beginInScript();
    }

    /// How the client is built does not help who reads the trace.
    private void beginInScript() {
        setStackTrace(Arrays.stream(getStackTrace())
                .dropWhile(frame -> frame.getClassName().startsWith(PACKAGE))
                .toArray(StackTraceElement[]::new));
    }

    static MdlException of(CommandFailure failure) {
        return new MdlException(String.valueOf(failure.getMessage()), failure.remedy());
    }

    static MdlException of(IOException failure) {
        return new MdlException(failure);
    }

    /// What to do; null if nothing is known.
    public @Nullable String remedy() {
        return remedy;
    }
}
