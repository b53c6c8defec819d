package org.mdlagent.profiler;

/// The estimate of one function's calls: exact counts, and ratio estimates of blocks of windows (Cochran, "Sampling
/// Techniques", 3rd edition, chapter 6).
///
/// Within a block, calls in windows over the program's CPU time in windows is the rate; the block's calls are the
/// rate times all of its CPU time in the block. CPU times are in nanoseconds.
final class CallEstimate {
    private double exact;
    private double blocks;
    private double blocksVariance;

    private double blockStart;
    private double lastRate;
    private int windows;
    private double calls;
    private double nanos;
    private double calls2;
    private double callsNanos;
    private double nanos2;

    void addExact(long count) {
        exact += count;
    }

    /// @param rate calls for each nanosecond, which holds until a window tells better
    void startBlock(double now, double rate) {
        lastRate = rate;
        blockStart = now;
        windows = 0;
        calls = 0;
        nanos = 0;
        calls2 = 0;
        callsNanos = 0;
        nanos2 = 0;
    }

    /// @param observedNanos CPU time of the program in the window
    void addWindow(double count, double observedNanos) {
        windows++;
        calls += count;
        nanos += observedNanos;
        calls2 += count * count;
        callsNanos += count * observedNanos;
        nanos2 += observedNanos * observedNanos;
    }

    /// Ends the block and starts the next.
    void endBlock(double now) {
        blocks += blockCalls(now);
        blocksVariance += blockVariance(now);
        startBlock(now, rate());
    }

    /// Windows in the block so far.
    int windows() {
        return windows;
    }

    /// The function's calls up to `now`.
    double calls(double now) {
        return exact + blocks + blockCalls(now);
    }

    /// Variance of [#calls].
    double variance(double now) {
        return blocksVariance + blockVariance(now);
    }

    private double blockCalls(double now) {
        return rate() * (now - blockStart);
    }

    private double rate() {
        return nanos > 0 ? calls / nanos : lastRate;
    }

    private double blockVariance(double now) {
        if (windows < 2 || nanos <= 0) {
            return 0;
        }
        double rate = rate();
        double residuals = Math.max(0, calls2 - 2 * rate * callsNanos + rate * rate * nanos2);
        double all = now - blockStart;
        double mean = nanos / windows;
        double unobserved = Math.max(0, 1 - nanos / all);
        return unobserved * all * all * residuals / (windows - 1) / (windows * mean * mean);
    }
}
