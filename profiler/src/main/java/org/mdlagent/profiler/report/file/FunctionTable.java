package org.mdlagent.profiler.report.file;

import java.io.IOException;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;

/// The records of a session's functions by number, as many as existed when this object was created.
public final class FunctionTable {
    private final SessionBytes bytes;
    private final int count;
    private final int capacity;
    private final long table;

    public FunctionTable(SessionBytes bytes) throws IOException {
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

    public int count() {
        return count;
    }

    /// Functions that threads' tables have room for.
    public int capacity() {
        return capacity;
    }

    public FunctionBytes get(int number) {
        return new FunctionBytes(bytes, table + number * FunctionDescriptor.SIZE);
    }
}
