package org.mdlagent.profiler.sampled;

import java.util.Arrays;
import org.mdlagent.profiler.figures.ProbeCost;

/// What counting a function's calls in slices has cost the program, by prediction.
///
/// Calls are priced by their rate in the slices themselves: a function that is called in bursts is in the caches then,
/// however rare its calls are on average.
final class CountingCost {
    /// By how much counting a call may take longer than predicted, in ticks, where a function's calls are less than
    /// [#DENSE_TICKS] apart: then each count waits for the last one's store. In a loop of an empty function it
    /// took 6 to 10 ticks, and 13 with hooks or a busy neighbour on the processor; the prediction is 6.
    private static final double DOUBTFUL_TICKS = 7.5;

    private static final double DENSE_TICKS = 30;

    /// Weight of earlier calls in a function's price, per look.
    private static final double KEPT = 0.95;

    private final ProbeCost cost;
    private final double ticksPerNano;

    /// By function: its recent calls in slices, and what counting them has cost, in ticks.
    private double[] calls = {};

    private double[] ticks = {};

    CountingCost(ProbeCost cost, double ticksPerNano) {
        this.cost = cost;
        this.ticksPerNano = ticksPerNano;
    }

    /// Makes room for new functions.
    void grow(int functions) {
        calls = Arrays.copyOf(calls, functions);
        ticks = Arrays.copyOf(ticks, functions);
    }

    /// Adds a function's calls in slices since the last look.
    ///
    /// @param cpuNanos of the program in these slices
    /// @return what counting them has cost, in nanoseconds
    double add(int function, long calls, long cpuNanos) {
        double cost = calls * this.cost.sliced(1e9 * rate(calls, cpuNanos));
        this.calls[function] = KEPT * this.calls[function] + calls;
        ticks[function] = KEPT * ticks[function] + cost;
        return cost / ticksPerNano;
    }

    /// What counting these calls may have cost beyond that, in nanoseconds.
    double doubtful(long calls, long cpuNanos) {
        double dense = Math.min(1, DENSE_TICKS * rate(calls, cpuNanos) / ticksPerNano);
        return dense * calls * DOUBTFUL_TICKS / ticksPerNano;
    }

    private static double rate(long calls, long cpuNanos) {
        return (double) calls / Math.max(1, cpuNanos);
    }

    /// The cost of counting one of a function's calls in a slice, in ticks.
    ///
    /// @param rate calls per nanosecond, for a function without calls in slices; NaN if that is unknown, too
    double price(int function, double rate) {
        return calls[function] > 0
                ? ticks[function] / calls[function]
                : cost.sliced(Double.isNaN(rate) ? 0 : 1e9 * rate);
    }
}
