package org.mdlagent.arch.session;

import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.shim.Memory;

/// A read-only view of a probed function's record, `struct mdl_function`.
///
/// @param address of the record
public record FunctionRecord(long address) {
    public int index() {
        return Memory.getInt(address + FunctionDescriptor.INDEX);
    }

    /// Start of its code, 0 if its image is not loaded.
    public long code() {
        return Memory.getLong(address + FunctionDescriptor.ADDRESS);
    }

    /// Whether the record was never written.
    public boolean isNew() {
        return name() == 0;
    }

    /// Offset of a string of the session, 0 for none.
    public int name() {
        return Memory.getInt(address + FunctionDescriptor.NAME);
    }

    /// Offset of a string of the session, 0 for none.
    public int symbol() {
        return Memory.getInt(address + FunctionDescriptor.SYMBOL);
    }

    /// Offset of a string of the session, 0 if no source line is known.
    public int fileAcquire() {
        return Memory.getIntAcquire(address + FunctionDescriptor.FILE);
    }

    public int line() {
        return Memory.getInt(address + FunctionDescriptor.LINE);
    }

    public boolean isOff() {
        return hasFlag(FunctionDescriptor.FLAG_OFF);
    }

    public boolean isImported() {
        return hasFlag(FunctionDescriptor.FLAG_IMPORTED);
    }

    public boolean recordsEveryCall() {
        return hasFlag(FunctionDescriptor.FLAG_EVERY_CALL);
    }

    /// Mean number of calls per timed call, 0 if the function is sliced.
    public int mean() {
        return Memory.getInt(address + FunctionDescriptor.MEAN);
    }

    private boolean hasFlag(int flag) {
        return (Memory.getInt(address + FunctionDescriptor.FLAGS) & flag) != 0;
    }

    /// An estimate of its calls.
    public double calls() {
        return Double.longBitsToDouble(Memory.getLong(address + FunctionDescriptor.CALLS));
    }

    /// Variance of [#calls].
    public double callsVariance() {
        return Float.intBitsToFloat(Memory.getInt(address + FunctionDescriptor.CALLS_VARIANCE));
    }

    /// Address of its newest caller (`struct mdl_edge`), 0 before the first.
    public long callers() {
        return Memory.getLong(address + FunctionDescriptor.CALLERS);
    }

    /// Address of the indices of its sites, exits first; 0 if none was written.
    public long siteList() {
        return Memory.getLong(address + FunctionDescriptor.SITE_LIST);
    }

    public int exitSites() {
        return Memory.getInt(address + FunctionDescriptor.EXIT_SITES);
    }

    public int entrySites() {
        return Memory.getInt(address + FunctionDescriptor.ENTRY_SITES);
    }
}
