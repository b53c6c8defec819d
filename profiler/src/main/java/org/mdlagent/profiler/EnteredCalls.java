package org.mdlagent.profiler;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.mdlagent.arch.session.ThreadBlock;
import org.mdlagent.arch.session.ThreadBlocks;
import org.mdlagent.arch.shim.Memory;

/// By function: calls that probes have counted, in all threads together.
///
/// Blocks whose threads have ended stay as they are until others take them over. Those that have not changed for some
/// readings are in a sum of their own, and are not read each time: a server with a process for each connection has
/// dozens of them.
public final class EnteredCalls {
    /// After so many readings without a thread a block belongs to that sum.
    private static final int READINGS_AT_REST = 16;

    private final ThreadBlocks threads;
    private long[] calls = {};
    private long[] ofThread = {};

    /// Of the blocks that rest, by their addresses: who had them last; and of others without a thread, for how many
    /// readings they have had none.
    private final Map<Long, Integer> resting = new HashMap<>();

    private final Map<Long, Integer> ended = new HashMap<>();

    /// The calls in blocks that rest.
    private long[] restingCalls = {};

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
            restingCalls = new long[functions];
            resting.clear();
            ended.clear();
        } else if (forgetWhatWokeUp()) {
            sumUpResting();
        }
        System.arraycopy(restingCalls, 0, calls, 0, functions);
        for (ThreadBlock thread : threads) {
            long counters = thread.callsAcquire();
            if (counters == 0 || resting.containsKey(thread.address())) {
                continue;
            }
            // Before its calls are read: a thread that takes it over meanwhile is seen at the next reading.
            boolean rests = hasRested(thread);
            Memory.copy(counters, ofThread);
            add(ofThread, calls);
            if (rests) {
                add(ofThread, restingCalls);
            }
        }
        return calls;
    }

    /// Blocks that have had another thread since they came to rest do not rest.
    ///
    /// @return whether there were any
    private boolean forgetWhatWokeUp() {
        boolean any = false;
        for (ThreadBlock thread : threads) {
            Integer tid = resting.get(thread.address());
            if (tid != null && (tid != thread.tid() || thread.isLiveAcquire())) {
                resting.remove(thread.address());
                any = true;
            }
        }
        return any;
    }

    private void sumUpResting() {
        Arrays.fill(restingCalls, 0);
        for (ThreadBlock thread : threads) {
            if (resting.containsKey(thread.address())) {
                Memory.copy(thread.callsAcquire(), ofThread);
                add(ofThread, restingCalls);
            }
        }
    }

    private boolean hasRested(ThreadBlock thread) {
        if (thread.isLiveAcquire()) {
            ended.remove(thread.address());
            return false;
        }
        if (ended.merge(thread.address(), 1, Integer::sum) < READINGS_AT_REST) {
            return false;
        }
        ended.remove(thread.address());
        resting.put(thread.address(), thread.tid());
        return true;
    }

    private static void add(long[] more, long[] sums) {
        for (int i = 0; i < sums.length; i++) {
            sums[i] += more[i];
        }
    }
}
