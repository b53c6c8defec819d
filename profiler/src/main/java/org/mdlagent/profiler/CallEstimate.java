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

    /// Sum of the squares of blocks' variances, each over its degrees of freedom.
    private double blocksSquares;

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
        double variance = blockVariance(now);
        blocksVariance += variance;
        blocksSquares += squareOverFreedom(variance);
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

    /// Variance that a normal distribution had with an interval as wide as that of [#calls].
    double variance(double now) {
        double ofBlock = blockVariance(now);
        double variance = blocksVariance + ofBlock;
        double squares = blocksSquares + squareOverFreedom(ofBlock);
        double wider = Confidence.quantile95(variance * variance / squares) / Confidence.QUANTILE_95;
        return squares > 0 ? variance * wider * wider : variance;
    }

    private double squareOverFreedom(double variance) {
        return isVarianceKnown() ? variance * variance / (windows - 1) : 0;
    }

    private boolean isVarianceKnown() {
        return windows >= 2 && nanos > 0;
    }

    private double blockCalls(double now) {
        return rate() * (now - blockStart);
    }

    private double rate() {
        return nanos > 0 ? calls / nanos : lastRate;
    }

    private double blockVariance(double now) {
        if (!isVarianceKnown()) {
            double deviation = blockCalls(now) / Confidence.QUANTILE_95;
            return deviation * deviation;
        }
        double rate = rate();
        double residuals = Math.max(0, calls2 - 2 * rate * callsNanos + rate * rate * nanos2);
        double all = now - blockStart;
        double mean = nanos / windows;
        double unobserved = Math.max(0, 1 - nanos / all);
        return unobserved * all * all * residuals / (windows - 1) / (windows * mean * mean);
    }
}
