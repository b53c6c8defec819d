package org.mdlagent.profiler.report.session;

import java.io.IOException;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;

/// The records of a session's functions, by their numbers, as many as there were when this was made.
final class FunctionTable {
    private final SessionBytes bytes;
    private final int count;
    private final int capacity;
    private final long table;

    FunctionTable(SessionBytes bytes) throws IOException {
        this.bytes = bytes;
        count = bytes.count(HeaderDescriptor.FUNCTION_COUNT, HeaderDescriptor.FUNCTION_CAPACITY, "functions");
        capacity = bytes.getInt(HeaderDescriptor.FUNCTION_CAPACITY);
        table = count == 0
                ? 0
                : bytes.offset(
                        bytes.getLong(HeaderDescriptor.FUNCTIONS),
                        count * FunctionDescriptor.SIZE,
                        "the table of functions");
        bytes.claim(count * FunctionDescriptor.SIZE);
    }

    int count() {
        return count;
    }

    /// Functions for which tables of threads have room.
    int capacity() {
        return capacity;
    }

    FunctionBytes get(int number) {
        return new FunctionBytes(bytes, table + number * FunctionDescriptor.SIZE);
    }
}
