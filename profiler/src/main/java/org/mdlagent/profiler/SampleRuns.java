package org.mdlagent.profiler;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.mdlagent.arch.Memory;
import org.mdlagent.arch.layout.FunctionDescriptor;

/// Which calls of a function are timed: *runs* of consecutive ones. A run begins with a random call, of as many as are
/// expected (systematic sampling, Cochran, "Sampling Techniques", 3rd edition, chapter 8): each call is as likely to be
/// timed as any other. Those that come first in a window are not like the others: a window is most likely to open while
/// a long call runs, and what follows a long call may be short ones.
///
/// Calls in a row, for the first of a run find code that is in no cache ([SampleWeights]).
final class SampleRuns {
    private final SplittableRandom random = new SplittableRandom();
    private final int length;

    /// By function: of how many calls one run is timed, 1 where all are.
    private int[] strides = {};

    /// By function: calls that are timed at most.
    private int[] limits = {};

    /// @param length calls of a run, a power of two
    SampleRuns(int length) {
        this.length = length;
    }

    /// Makes room for functions that have come, whose first calls are timed.
    void grow(int functions) {
        int known = strides.length;
        strides = Arrays.copyOf(strides, functions);
        limits = Arrays.copyOf(limits, functions);
        Arrays.fill(strides, known, functions, 1);
        Arrays.fill(limits, known, functions, length);
    }

    /// Of the calls that come, times one run.
    ///
    /// @param calls as many as are expected
    void timeOneRun(int function, long record, double calls) {
        set(function, record, calls, length);
    }

    /// Times as many of the calls that come as are wanted, and up to twice as many.
    ///
    /// @param calls as many as are expected
    void time(int function, long record, double calls, int wanted) {
        set(function, record, calls * length / wanted, 2 * wanted);
        Memory.putInt(record + FunctionDescriptor.REMAINING, 2 * wanted);
    }

    /// Of the calls that come, records the callers of the first: of a function whose calls are all timed anyway.
    void timeFirst(int function, long record) {
        strides[function] = 1;
        limits[function] = length;
        Memory.putInt(record + FunctionDescriptor.REMAINING, length);
    }

    private void set(int function, long record, double callsOfRun, int limit) {
        long stride = 1;
        while (stride < callsOfRun && stride < 1 << 30) {
            stride *= 2;
        }
        strides[function] = stride <= length ? 1 : (int) stride;
        limits[function] = limit;
        long mask = (stride - 1) & -length;
        // By one store: with the phase of another mask, no call might be timed.
        Memory.putLong(
                record + FunctionDescriptor.RUN_MASK, mask | (long) random.nextInt((int) stride) << Integer.SIZE);
    }

    /// For how many calls those stand that were timed.
    ///
    /// @param calls that there have been
    double calls(int function, long calls) {
        return Math.max(strides[function], calls);
    }

    /// How many are timed of [#calls].
    double timed(int function, long calls) {
        double all = calls(function, calls);
        double each = strides[function] == 1 ? 1 : (double) length / strides[function];
        return Math.min(all * each, limits[function]);
    }
}
