package org.mdlagent.arch.code;

import java.io.IOException;

/// A copy must not replace a text: the program may write to it, has mapped other memory there, or has sealed it.
public final class ChangedTextException extends IOException {
    public static final String REASON = "the program has changed its code in memory, may write to it, or has sealed it";

    private static final long serialVersionUID = 1;

    public ChangedTextException() {
        super(REASON);
    }
}
