package org.mdlagent.profiler;

import java.util.Arrays;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.RowDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.shim.Memory;

/// What the session has measured of its functions so far: of sampled ones a row of each, of those whose calls are all
/// recorded one of each in every thread, beside one that has their callers alone.
final class CallTables {
    private final long header;
    private final boolean exact;
    private final EnteredCalls counters;

    /// Addresses of the threads' blocks, the newest first.
    private long[] threads = {};

    /// By function: calls that probes have counted.
    private long[] entered = {};

    CallTables(long header, boolean exact) {
        this.header = header;
        this.exact = exact;
        counters = new EnteredCalls(header);
    }

    /// Looks at all threads.
    void refresh() {
        entered = counters.read(Memory.getIntAcquire(header + HeaderDescriptor.FUNCTION_COUNT));
        int count = 0;
        long thread = Memory.getLongAcquire(header + HeaderDescriptor.THREADS);
        for (; thread != 0; thread = Memory.getLong(thread + ThreadDescriptor.NEXT)) {
            if (count == threads.length) {
                threads = Arrays.copyOf(threads, 2 * count + 8);
            }
            threads[count++] = thread;
        }
        threads = Arrays.copyOf(threads, count);
    }

    int functions() {
        return entered.length;
    }

    /// Calls of a function, counted or estimated.
    long calls(int function) {
        return isExact(function) ? entered[function] : rounded(function(function) + FunctionDescriptor.CALLS);
    }

    /// Variance of an estimate of calls.
    long variance(int function) {
        return isExact(function) ? 0 : rounded(function(function) + FunctionDescriptor.CALLS_VARIANCE);
    }

    private boolean isExact(int function) {
        int flags = Memory.getInt(function(function) + FunctionDescriptor.FLAGS);
        return exact || (flags & FunctionDescriptor.FLAG_EVERY_CALL) != 0;
    }

    /// Calls that the durations of a function are of.
    long timed(int function) {
        long sum = 0;
        for (int i = 0; i <= threads.length; i++) {
            long row = row(i, function);
            sum += row == 0 ? 0 : Memory.getLong(row + RowDescriptor.COUNT);
        }
        return sum;
    }

    /// Adds all that is known of a function.
    void add(int function, RowSums sums) {
        for (int i = 0; i <= threads.length; i++) {
            long row = row(i, function);
            if (row != 0) {
                sums.add(row);
            }
        }
    }

    /// What the probes have cost, in ticks, as it is predicted.
    double probeTicks() {
        long sampled = 0;
        long all = 0;
        for (int i = 0; i < entered.length; i++) {
            if (isExact(i)) {
                all += timed(i);
            } else {
                sampled += entered[i];
            }
        }
        long samples = Memory.getLong(header + HeaderDescriptor.SAMPLES);
        boolean cpuTime = (Memory.getInt(header + HeaderDescriptor.FLAGS) & HeaderDescriptor.FLAG_CPU_TIME) != 0;
        return ProbeCost.exact(all) + ProbeCost.sampled(sampled, samples) + ProbeCost.clock(cpuTime, all + samples);
    }

    /// A function's row in a thread, or behind the last thread its own; 0 when there is none.
    private long row(int thread, int function) {
        if (thread == threads.length) {
            return Memory.getLong(function(function) + FunctionDescriptor.ROW);
        }
        long rows = Memory.getLong(threads[thread] + ThreadDescriptor.ROWS);
        return rows == 0 ? 0 : Memory.getLong(rows + (long) function * Long.BYTES);
    }

    private long function(int index) {
        return Memory.getLong(header + HeaderDescriptor.FUNCTIONS) + index * FunctionDescriptor.SIZE;
    }

    private static long rounded(long doubleAt) {
        return Math.round(Double.longBitsToDouble(Memory.getLong(doubleAt)));
    }
}
