package org.mdlagent.profiler.report.codec;

import java.io.IOException;

/// Thrown when bytes are not a record that this program can read.
public final class RecordFormatException extends IOException {
    private static final long serialVersionUID = 1;

    public RecordFormatException(String message) {
        super(message);
    }
}
