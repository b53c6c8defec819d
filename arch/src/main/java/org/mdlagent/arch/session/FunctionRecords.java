package org.mdlagent.arch.session;

import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.shim.Memory;

/// Addresses of the records of probed functions, by index.
public final class FunctionRecords {
    private final long header;

    /// @param header address of the session
    public FunctionRecords(long header) {
        this.header = header;
    }

    public int countAcquire() {
        return Memory.getIntAcquire(header + HeaderDescriptor.FUNCTION_COUNT);
    }

    public int capacity() {
        return Memory.getInt(header + HeaderDescriptor.FUNCTION_CAPACITY);
    }

    /// Address of a record. Its existence is not checked.
    public long address(int index) {
        return Memory.getLong(header + HeaderDescriptor.FUNCTIONS) + index * FunctionDescriptor.SIZE;
    }

    public FunctionRecord get(int index) {
        return new FunctionRecord(address(index));
    }

    public FunctionRecordWriter writer(int index) {
        return new FunctionRecordWriter(address(index));
    }
}
