package org.mdlagent.arch.shim;

/// Per-thread native memory for arguments and results of one shim call: allocating it each time would take longer
/// than most calls. It is never freed: the agent has one thread.
public final class Scratch {
    public static final int BYTES = 1024;

    private static final ThreadLocal<NativeBuffer> OWN = ThreadLocal.withInitial(() -> NativeBuffer.of(BYTES));

    private Scratch() {}

    /// Address of [#BYTES] bytes, which belong to the caller until it returns.
    public static long address() {
        return OWN.get().address();
    }
}
