package org.mdlagent.profiler.cpu;

import java.util.Arrays;
import java.util.function.IntToLongFunction;

/// Each function's share of recent samples. Old samples decay exponentially.
final class RecentShares {
    /// Decay time constant: after it, a sample counts e^-1.
    private static final double MEMORY_NANOS = 4e9;

    /// Minimum samples, of a function and of all functions, for a known share.
    private static final double FUNCTION_MIN = 3;

    private static final double ALL_MIN = 20;

    /// By function: decayed samples, and the sample count that they include.
    private double[] recent = {};

    private long[] before = {};

    private double weight = 1;
    private double recentOfAll;
    private long beforeOfAll;

    /// Makes room for new functions.
    void grow(int functions) {
        recent = Arrays.copyOf(recent, functions);
        before = Arrays.copyOf(before, functions);
    }

    /// Adds the samples taken since the last call.
    ///
    /// @param nanos   since the last call
    /// @param weight  periods that each new sample stands for; the time constant grows by this factor
    /// @param all     samples so far
    /// @param samples by function: samples so far
    void add(double nanos, int weight, long all, IntToLongFunction samples) {
        this.weight = weight;
        double kept = Math.exp(-nanos / (MEMORY_NANOS * weight));
        recentOfAll = kept * recentOfAll + all - beforeOfAll;
        beforeOfAll = all;
        for (int i = 0; i < recent.length; i++) {
            long now = samples.applyAsLong(i);
            recent[i] = kept * recent[i] + now - before[i];
            before[i] = now;
        }
    }

    /// A function's share; 0 if too little is known.
    double share(int function) {
        boolean known = recentOfAll >= ALL_MIN * weight && recent[function] >= FUNCTION_MIN * weight;
        return known ? recent[function] / recentOfAll : 0;
    }
}
