package org.mdlagent.profiler;

import java.util.Arrays;
import org.mdlagent.arch.Memory;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.RowDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;

/// What the session has measured of its functions so far: in sampled mode a row of each, in exact mode one of each in
/// every thread.
final class CallTables {
    private final long header;
    private final boolean exact;

    /// Addresses of the threads' blocks, the newest first.
    private long[] threads = {};

    /// By function: calls that probes have counted.
    private long[] entered = {};

    private long[] scratch = {};

    CallTables(long header, boolean exact) {
        this.header = header;
        this.exact = exact;
    }

    /// Looks at all threads.
    void refresh() {
        int functions = Memory.getIntAcquire(header + HeaderDescriptor.FUNCTION_COUNT);
        entered = new long[functions];
        scratch = scratch.length == functions ? scratch : new long[functions];
        int count = 0;
        long thread = Memory.getLongAcquire(header + HeaderDescriptor.THREADS);
        for (; thread != 0; thread = Memory.getLong(thread + ThreadDescriptor.NEXT)) {
            if (count == threads.length) {
                threads = Arrays.copyOf(threads, 2 * count + 8);
            }
            threads[count++] = thread;
            addEntered(thread);
        }
        threads = Arrays.copyOf(threads, count);
    }

    private void addEntered(long thread) {
        long calls = Memory.getLongAcquire(thread + ThreadDescriptor.CALLS);
        if (calls == 0) {
            return;
        }
        Memory.copy(calls, scratch);
        for (int i = 0; i < scratch.length; i++) {
            entered[i] += scratch[i];
        }
    }

    int functions() {
        return entered.length;
    }

    /// Calls of a function, counted or estimated.
    long calls(int function) {
        return exact ? entered[function] : rounded(function(function) + FunctionDescriptor.CALLS);
    }

    /// Variance of an estimate of calls.
    long variance(int function) {
        return exact ? 0 : rounded(function(function) + FunctionDescriptor.CALLS_VARIANCE);
    }

    /// Calls that the durations of a function are of.
    long timed(int function) {
        long sum = 0;
        for (int i = 0; i < lists(); i++) {
            long row = row(i, function);
            sum += row == 0 ? 0 : Memory.getLong(row + RowDescriptor.COUNT);
        }
        return sum;
    }

    /// Adds all that is known of a function.
    void add(int function, RowSums sums) {
        for (int i = 0; i < lists(); i++) {
            long row = row(i, function);
            if (row != 0) {
                sums.add(row);
            }
        }
    }

    /// What the probes have cost, in ticks, as it is predicted.
    double probeTicks() {
        long calls = 0;
        for (int i = 0; i < entered.length; i++) {
            calls += exact ? timed(i) : entered[i];
        }
        return exact
                ? ProbeCost.exact(calls)
                : ProbeCost.sampled(calls, Memory.getLong(header + HeaderDescriptor.SAMPLES));
    }

    private int lists() {
        return exact ? threads.length : 1;
    }

    private long row(int list, int function) {
        if (!exact) {
            return Memory.getLong(function(function) + FunctionDescriptor.ROW);
        }
        long rows = Memory.getLong(threads[list] + ThreadDescriptor.ROWS);
        return rows == 0 ? 0 : Memory.getLong(rows + (long) function * Long.BYTES);
    }

    private long function(int index) {
        return Memory.getLong(header + HeaderDescriptor.FUNCTIONS) + index * FunctionDescriptor.SIZE;
    }

    private static long rounded(long doubleAt) {
        return Math.round(Double.longBitsToDouble(Memory.getLong(doubleAt)));
    }
}
