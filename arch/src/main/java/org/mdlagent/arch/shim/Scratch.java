package org.mdlagent.arch.shim;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Per-thread native memory for arguments and results of one shim call: allocating it each time would take longer
/// than most calls.
public final class Scratch {
    public static final int BYTES = 1024;

    private static final ThreadLocal<MemorySegment> OWN =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(BYTES, Long.BYTES));

    private Scratch() {}

    /// Address of [#BYTES] bytes, which belong to the caller until it returns.
    public static long address() {
        return OWN.get().address();
    }
}
