package org.mdlagent.arch.code;

import java.io.IOException;

/// The program may write to a text, has put other memory in its place, or has sealed it, so no copy may take that
/// place.
public final class ChangedTextException extends IOException {
    public static final String REASON = "the program has changed its code in memory, may write to it, or has sealed it";

    private static final long serialVersionUID = 1;

    public ChangedTextException() {
        super(REASON);
    }
}
