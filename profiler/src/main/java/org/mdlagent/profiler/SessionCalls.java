package org.mdlagent.profiler;

import org.mdlagent.arch.session.ThreadBlock;
import org.mdlagent.arch.session.ThreadBlocks;
import org.mdlagent.arch.shim.Memory;

/// The calls of single functions in the session.
final class SessionCalls implements RuleWatch.Source {
    private final ThreadBlocks threads;
    private final FunctionDurations durations;

    /// @param header address of the session's header
    SessionCalls(long header) {
        threads = new ThreadBlocks(header);
        durations = new FunctionDurations(header);
    }

    @Override
    public long calls(int function) {
        long sum = 0;
        for (ThreadBlock thread : threads) {
            long calls = thread.callsAcquire();
            sum += calls == 0 ? 0 : Memory.getLong(calls + (long) function * Long.BYTES);
        }
        return sum;
    }

    @Override
    public void addDurations(int function, long[] slots) {
        durations.add(function, slots);
    }
}
