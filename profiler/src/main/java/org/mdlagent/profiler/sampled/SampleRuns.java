package org.mdlagent.profiler.sampled;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.mdlagent.arch.session.FunctionRecordWriter;

/// Which calls of a function are timed: *runs* of consecutive ones. A run begins with a random call, of as many as are
/// expected (systematic sampling, Cochran, "Sampling Techniques", 3rd edition, chapter 8): each call is as likely to be
/// timed as any other. Those that come first in a window are not like the others: a window is most likely to open while
/// a long call runs, and what follows a long call may be short ones.
///
/// Calls in a row, of which only the last are recorded: the first of a window find code that is in no cache, and the
/// processor predicts their branches wrong. In Lua, a call of 18 ns was timed as 21 ns after eight others, and it took
/// some 60 until it lasted as long as in exact mode. So a run is longer where there are more calls.
final class SampleRuns {
    private static final int LONGEST = 64;

    /// Of eight calls so many are not recorded where a run cannot be longer.
    private static final int COLD = 3;

    /// A run is so much shorter than what a window has of calls.
    private static final int CALLS_PER_RUN = 4;

    private final SplittableRandom random = new SplittableRandom();
    private final int length;

    /// By function: of how many calls one run is timed, 1 where all are.
    private int[] strides = {};

    /// By function: the calls of a run that are recorded.
    private int[] recorded = {};

    /// By function: the calls before these, where all are timed.
    private int[] before = {};

    /// By function: calls that are recorded at most.
    private int[] limits = {};

    /// @param length calls of a run that are recorded, a power of two
    SampleRuns(int length) {
        this.length = length;
    }

    /// Makes room for functions that have come.
    void grow(int functions) {
        strides = Arrays.copyOf(strides, functions);
        limits = Arrays.copyOf(limits, functions);
        recorded = Arrays.copyOf(recorded, functions);
        before = Arrays.copyOf(before, functions);
    }

    /// Times none of the calls that come.
    void timeNone(long record) {
        new FunctionRecordWriter(record).setRemaining(0);
    }

    /// Of the calls that come, times one run.
    ///
    /// @param calls as many as are expected
    void timeOneRun(int function, long record, double calls) {
        int run = length;
        while (run < LONGEST && 2 * CALLS_PER_RUN * run <= calls) {
            run *= 2;
        }
        int last = run == length ? length - COLD * length / 8 : length;
        set(function, record, calls, run, last, last);
    }

    /// Times as many of the calls that come as are wanted, and up to twice as many.
    ///
    /// @param calls as many as are expected
    void time(int function, long record, double calls, int wanted) {
        set(function, record, calls * length / wanted, length, length, 2 * wanted);
    }

    /// Lets some of the calls that come tell who has made them, of a function whose calls machine code times.
    void tell(int function, long record, int calls) {
        strides[function] = 1;
        recorded[function] = calls;
        before[function] = 0;
        limits[function] = calls;
        new FunctionRecordWriter(record).setRemaining(calls);
    }

    /// Times the first of the calls that come.
    void timeFirst(int function, long record) {
        set(function, record, 0, length, length, length);
    }

    /// @param calls of which one run is to be timed
    /// @param run   its calls, a power of two
    /// @param last  of these, as many as are recorded
    /// @param limit how many calls are recorded at most
    private void set(int function, long record, double calls, int run, int last, int limit) {
        long stride = 1;
        while (stride < calls && stride < 1 << 30) {
            stride *= 2;
        }
        strides[function] = stride <= run ? 1 : (int) stride;
        recorded[function] = last;
        before[function] = run - last;
        limits[function] = limit;
        long mask = (stride - 1) & -run;
        FunctionRecordWriter writer = new FunctionRecordWriter(record);
        writer.setRuns((int) mask, random.nextInt((int) stride));
        writer.setRecorded(limit);
        writer.setRemaining(run - last + limit);
    }

    /// For how many calls those stand that were recorded.
    ///
    /// @param calls that there have been
    double calls(int function, long calls) {
        return Math.max(strides[function], calls);
    }

    /// How many are recorded of [#calls]; 0 where it cannot be told.
    double recorded(int function, long calls) {
        double all = calls(function, calls);
        double most = strides[function] == 1
                ? Math.max(0, all - before[function])
                : all * recorded[function] / strides[function];
        return Math.min(most, limits[function]);
    }
}
