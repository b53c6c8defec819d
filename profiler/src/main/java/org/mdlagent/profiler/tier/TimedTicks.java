package org.mdlagent.profiler.tier;

import java.util.Arrays;
import org.mdlagent.arch.layout.RowDescriptor;
import org.mdlagent.arch.session.ThreadBlock;
import org.mdlagent.arch.session.ThreadBlocks;
import org.mdlagent.arch.shim.Memory;

/// The duration of a timed call of each function, from threads' rows. Rows are in no cache, and there is one
/// per thread, so they are not read for each choice.
final class TimedTicks {
    /// The first threads represent all.
    private static final int THREADS_MAX = 64;

    /// A duration is looked up again after a function's calls have grown by this factor; and for this many
    /// functions at each choice, in turn.
    private static final double LOOKUP_FACTOR = 2;

    private static final int LOOKUPS_IN_TURN = 64;

    private final ThreadBlocks threads;

    /// By function: its duration in ticks, and its calls at the lookup; and the next function in turn.
    private double[] ticksOfEach = {};

    private long[] callsAtLookup = {};
    private int nextLookup;

    /// @param header address of the session's header
    TimedTicks(long header) {
        threads = new ThreadBlocks(header);
    }

    /// Makes room for new functions.
    void grow(int functions) {
        ticksOfEach = Arrays.copyOf(ticksOfEach, functions);
        callsAtLookup = Arrays.copyOf(callsAtLookup, functions);
    }

    /// Expires the durations of functions whose turn it is.
    void forgetSome() {
        for (int i = 0; i < Math.min(LOOKUPS_IN_TURN, callsAtLookup.length); i++) {
            nextLookup = nextLookup < callsAtLookup.length - 1 ? nextLookup + 1 : 0;
            callsAtLookup[nextLookup] = 0;
        }
    }

    /// Ticks per call; 0 if no thread has timed one.
    ///
    /// @param calls of the function so far
    double ofEach(int function, long calls) {
        if (calls >= LOOKUP_FACTOR * callsAtLookup[function]) {
            callsAtLookup[function] = calls;
            ticksOfEach[function] = ticksPerCall(function);
        }
        return ticksOfEach[function];
    }

    private double ticksPerCall(int function) {
        double ticks = 0;
        double timed = 0;
        int looks = 0;
        for (ThreadBlock thread : threads) {
            if (++looks > THREADS_MAX) {
                break;
            }
            long rows = thread.rows();
            long row = rows == 0 ? 0 : Memory.getLong(rows + (long) function * Long.BYTES);
            if (row != 0) {
                ticks += Memory.getLong(row + RowDescriptor.TOTAL);
                timed += Memory.getLong(row + RowDescriptor.COUNT);
            }
        }
        return timed == 0 ? 0 : ticks / timed;
    }
}
