package org.mdlagent.profiler;

import java.util.Arrays;
import org.mdlagent.arch.session.ThreadBlock;
import org.mdlagent.arch.session.ThreadBlocks;
import org.mdlagent.arch.shim.Memory;

/// By function: calls that probes have counted, in all threads together.
public final class EnteredCalls {
    private final ThreadBlocks threads;
    private long[] calls = {};
    private long[] ofThread = {};

    /// @param header address of the session's header
    public EnteredCalls(long header) {
        threads = new ThreadBlocks(header);
    }

    /// Adds them up anew.
    ///
    /// @return the sums, in an array that the next call changes
    public long[] read(int functions) {
        if (calls.length != functions) {
            calls = new long[functions];
            ofThread = new long[functions];
        }
        Arrays.fill(calls, 0);
        for (ThreadBlock thread : threads) {
            long counters = thread.callsAcquire();
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
