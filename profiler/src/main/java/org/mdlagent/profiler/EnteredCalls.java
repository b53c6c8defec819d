package org.mdlagent.profiler;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.mdlagent.arch.session.ThreadBlock;
import org.mdlagent.arch.session.ThreadBlocks;
import org.mdlagent.arch.shim.Memory;

/// Calls by function, as counted by probes, summed over all threads.
///
/// Blocks of ended threads keep their counts until another thread takes them over. Blocks that have not
/// changed for some readings are kept in a separate sum and are not read each time: a server with one process
/// per connection has dozens of them.
public final class EnteredCalls {
    /// Readings without a thread after which a block moves to the resting sum.
    private static final int READINGS_AT_REST = 16;

    private final ThreadBlocks threads;
    private long[] calls = {};
    private long[] ofThread = {};

    /// By block address: the last owner of each resting block; and for other blocks without a thread, the
    /// number of readings without one.
    private final Map<Long, Integer> resting = new HashMap<>();

    private final Map<Long, Integer> ended = new HashMap<>();

    /// Calls in resting blocks.
    private long[] restingCalls = {};

    /// @param header address of the session's header
    public EnteredCalls(long header) {
        threads = new ThreadBlocks(header);
    }

    /// Sums all blocks again.
    ///
    /// @return the sums, in an array that the next call overwrites
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
            // Checked before the calls are read: a thread that takes the block over meanwhile is seen at the
            // next reading.
            boolean rests = hasRested(thread);
            Memory.copy(counters, ofThread);
            add(ofThread, calls);
            if (rests) {
                add(ofThread, restingCalls);
            }
        }
        return calls;
    }

    /// Removes blocks that have had another thread since they came to rest from the resting set.
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
