package org.mdlagent.profiler.report.session;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.RowDescriptor;

/// The record of a function in a session.
///
/// @param at its offset
record FunctionBytes(SessionBytes bytes, long at) {
    /// The one at an address of the owning process.
    static FunctionBytes of(SessionBytes bytes, long address) throws IOException {
        return new FunctionBytes(bytes, bytes.offset(address, FunctionDescriptor.SIZE, "a function"));
    }

    /// Demangled.
    String name() throws IOException {
        return string(FunctionDescriptor.NAME);
    }

    String symbol() throws IOException {
        return string(FunctionDescriptor.SYMBOL);
    }

    /// Null when it is not known.
    @Nullable
    String file() throws IOException {
        return bytes.getInt(at + FunctionDescriptor.FILE) == 0 ? null : string(FunctionDescriptor.FILE);
    }

    /// 0 when it is not known.
    int line() throws IOException {
        return Math.max(0, bytes.getInt(at + FunctionDescriptor.LINE));
    }

    String image() throws IOException {
        return string(FunctionDescriptor.IMAGE);
    }

    /// Build id of the image, "" when it has none.
    String build() throws IOException {
        return string(FunctionDescriptor.BUILD);
    }

    /// Where its code begins, 0 when its library was closed.
    long start() throws IOException {
        return bytes.getLong(at + FunctionDescriptor.ADDRESS);
    }

    /// Where its code ends.
    long end() throws IOException {
        return bytes.getLong(at + FunctionDescriptor.END);
    }

    boolean isLeftOut() throws IOException {
        return hasFlag(FunctionDescriptor.FLAG_OFF);
    }

    boolean isEveryCallRecorded() throws IOException {
        return hasFlag(FunctionDescriptor.FLAG_EVERY_CALL);
    }

    /// Whether its window has been open all the time.
    boolean isWhole() throws IOException {
        return bytes.getInt(at + FunctionDescriptor.WHOLE) == 1;
    }

    /// Estimated calls.
    double calls() throws IOException {
        return bytes.getDouble(at + FunctionDescriptor.CALLS);
    }

    double callsVariance() throws IOException {
        return bytes.getDouble(at + FunctionDescriptor.CALLS_VARIANCE);
    }

    /// Offset of the row of all threads, 0 when it has none.
    long row() throws IOException {
        long address = bytes.getLong(at + FunctionDescriptor.ROW);
        return address == 0 ? 0 : bytes.offset(address, RowDescriptor.SIZE, "a row");
    }

    private boolean hasFlag(int flag) throws IOException {
        return (bytes.getInt(at + FunctionDescriptor.FLAGS) & flag) != 0;
    }

    private String string(long field) throws IOException {
        return bytes.string(bytes.getInt(at + field));
    }
}
