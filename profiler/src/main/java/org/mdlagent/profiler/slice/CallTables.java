package org.mdlagent.profiler.slice;

import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.RowDescriptor;
import org.mdlagent.arch.session.FunctionRecords;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.profiler.EnteredCalls;
import org.mdlagent.profiler.figures.ProbeCost;

/// The measurements of the session's functions so far: their rows in all threads, and their callers.
final class CallTables {
    private final long header;
    private final boolean exact;
    private final EnteredCalls counters;
    private final FunctionRecords functions;

    private final ThreadRows rows;

    /// By function: calls that probes have counted.
    private long[] entered = {};

    CallTables(long header, boolean exact) {
        this.header = header;
        this.exact = exact;
        counters = new EnteredCalls(header);
        functions = new FunctionRecords(header);
        rows = new ThreadRows(header);
    }

    /// Reads all threads.
    void refresh() {
        entered = counters.read(functions.countAcquire());
        rows.read(entered.length);
    }

    int functions() {
        return entered.length;
    }

    /// Calls of a function, counted or estimated.
    long calls(int function) {
        return isExact(function)
                ? entered[function]
                : Math.round(functions.get(function).calls());
    }

    /// Variance of an estimate of calls.
    long variance(int function) {
        return isExact(function) ? 0 : Math.round(functions.get(function).callsVariance());
    }

    private boolean isExact(int function) {
        return exact || functions.get(function).recordsEveryCall();
    }

    /// Calls that the durations of a function stand for.
    long timed(int function) {
        long sum = 0;
        for (int at = rows.first(function); at != ThreadRows.NONE; at = rows.next(at)) {
            sum += Memory.getLong(rows.row(at) + RowDescriptor.COUNT);
        }
        return sum;
    }

    /// Adds all data of a function.
    void add(int function, RowSums sums) {
        for (int at = rows.first(function); at != ThreadRows.NONE; at = rows.next(at)) {
            sums.add(rows.row(at));
        }
        sums.addCallers(functions.get(function).callers());
    }

    /// The predicted cost of the probes, in ticks.
    double probeTicks() {
        boolean cpuTime = (Memory.getInt(header + HeaderDescriptor.FLAGS) & HeaderDescriptor.FLAG_CPU_TIME) != 0;
        ProbeCost cost = new ProbeCost(cpuTime);
        double cpuSeconds = Math.max(1, Memory.getLong(header + HeaderDescriptor.PROGRAM_CPU_NANOS)) / 1e9;
        double ticks = cost.telling(Memory.getLong(header + HeaderDescriptor.SAMPLES));
        for (int i = 0; i < entered.length; i++) {
            if (entered[i] == 0) {
                continue;
            }
            double byChance = isExact(i) ? 0 : timedByChance(i);
            long all = isExact(i) ? timed(i) : 0;
            ticks += cost.of(entered[i], byChance, all, calls(i) / cpuSeconds);
        }
        return ticks;
    }

    private double timedByChance(int function) {
        double sum = 0;
        for (int at = rows.first(function); at != ThreadRows.NONE; at = rows.next(at)) {
            long row = rows.row(at);
            sum += ProbeCost.byChance(
                    Memory.getLong(row + RowDescriptor.COUNT),
                    Memory.getLong(row + RowDescriptor.SAMPLES),
                    Memory.getInt(row + RowDescriptor.WEIGHT));
        }
        return sum;
    }
}
