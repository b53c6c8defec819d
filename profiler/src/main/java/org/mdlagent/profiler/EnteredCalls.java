package org.mdlagent.profiler;

import java.util.Arrays;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.shim.Memory;

/// By function: calls that probes have counted, in all threads together.
final class EnteredCalls {
    private final long header;
    private long[] calls = {};
    private long[] ofThread = {};

    /// @param header address of the session's header
    EnteredCalls(long header) {
        this.header = header;
    }

    /// Adds them up anew.
    ///
    /// @return the sums, in an array that the next call changes
    long[] read(int functions) {
        if (calls.length != functions) {
            calls = new long[functions];
            ofThread = new long[functions];
        }
        Arrays.fill(calls, 0);
        long thread = Memory.getLongAcquire(header + HeaderDescriptor.THREADS);
        for (; thread != 0; thread = Memory.getLong(thread + ThreadDescriptor.NEXT)) {
            long counters = Memory.getLongAcquire(thread + ThreadDescriptor.CALLS);
            if (counters != 0) {
                add(counters);
            }
        }
        return calls;
    }

    private void add(long counters) {
        Memory.copy(counters, ofThread);
        for (int i = 0; i < calls.length; i++) {
            calls[i] += ofThread[i];
        }
    }
}
