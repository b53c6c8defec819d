package org.mdlagent.arch.code;

import java.io.IOException;

/// The program may write to a text, or has put other memory in its place, so no copy may take that place.
public final class ChangedTextException extends IOException {
    public static final String REASON = "the program has changed its code in memory, or may write to it";

    private static final long serialVersionUID = 1;

    public ChangedTextException() {
        super(REASON);
    }
}
