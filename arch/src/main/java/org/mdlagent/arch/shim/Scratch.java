package org.mdlagent.arch.shim;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A little native memory of each thread, for what the shim is given and gives back in one call: to allocate it each
/// time takes longer than most calls.
public final class Scratch {
    public static final int BYTES = 1024;

    private static final ThreadLocal<MemorySegment> OWN =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(BYTES, Long.BYTES));

    private Scratch() {}

    /// Address of [#BYTES] bytes, which are the caller's until he returns.
    public static long address() {
        return OWN.get().address();
    }
}
