package org.mdlagent.profiler.cpu;

import java.util.Arrays;
import java.util.function.IntToLongFunction;

/// Which part of the samples of late each function has. What was sampled long ago is forgotten little by little.
final class RecentShares {
    /// What was sampled so long ago counts for a third of what is sampled now.
    private static final double MEMORY_NANOS = 4e9;

    /// Fewer samples of a function, or of all, tell nothing.
    private static final double FUNCTION_MIN = 3;

    private static final double ALL_MIN = 20;

    /// By function: the samples of late, and all that there were when those were added up.
    private double[] recent = {};

    private long[] before = {};

    private double weight = 1;
    private double recentOfAll;
    private long beforeOfAll;

    /// Makes room for functions that have come.
    void grow(int functions) {
        recent = Arrays.copyOf(recent, functions);
        before = Arrays.copyOf(before, functions);
    }

    /// Adds what was sampled since the last time.
    ///
    /// @param nanos   since then
    /// @param weight  how many each of late stands for: where they are rarer, they are forgotten later
    /// @param all     samples so far
    /// @param samples by function: so far
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

    /// A function's part; 0 where little is known.
    double share(int function) {
        boolean known = recentOfAll >= ALL_MIN * weight && recent[function] >= FUNCTION_MIN * weight;
        return known ? recent[function] / recentOfAll : 0;
    }
}
