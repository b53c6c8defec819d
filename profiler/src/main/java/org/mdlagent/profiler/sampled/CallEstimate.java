package org.mdlagent.profiler.sampled;

import org.mdlagent.profiler.figures.Confidence;

/// The estimate of one function's calls: exact counts while its probes stay on, and ratio estimates while it
/// is sliced (Cochran, "Sampling Techniques", 3rd edition, chapter 6).
///
/// A *block* is a span of time with several slices, so that a single slice that met the program without a
/// processor does not decide alone. The block's rate is its calls in slices divided by the program's CPU time
/// in slices; its estimated calls are that rate times the CPU time of the block. CPU times are in
/// nanoseconds, without the cost of slices.
///
/// The variance between slices is estimated from successive differences of neighbouring slices (Wolter,
/// "Introduction to Variance Estimation", 2nd edition, chapter 8), block by block, because it differs between
/// phases of the program.
final class CallEstimate {
    /// Degrees of freedom per difference, for independent slices.
    private static final double FREEDOM_OF_DIFFERENCE = 2.0 / 3;

    /// Time constant of the recent rate, in CPU time.
    private static final double LATE_NANOS = 500e6;

    /// Upper bound of a plausible rate, in calls per nanosecond, used before the first slice.
    private static final double RATE_MAX = 0.01;

    /// Minimum slices of a block, and minimum CPU time per slice in it.
    private static final int SLICES = 4;

    private static final double SLICE_NANOS = 100e3;

    /// Physical limit in calls per nanosecond: a call and its return take at least 1.2 ns.
    private static final double RATE_LIMIT = 0.8;

    private double exact;
    private double blocks;

    /// CPU time in which calls were counted, and CPU time of blocks.
    private double observed;

    /// CPU time before the function had probes.
    private double gaps;

    /// Calls in `blocks` that were estimated without a complete block.
    private double guessed;

    /// Calls by which `blocks` may be too low because counting took longer than predicted.
    private double doubtful;

    /// The current block: its CPU time, CPU time in slices, what counting may have taken beyond the
    /// prediction, calls in slices, and number of slices.
    private double waiting;

    private double waitingInSlices;
    private double waitingDoubtful;
    private double waitingCalls;
    private long waitingSlices;

    private boolean sliced;

    /// Calls and CPU time, each weighted by exp(-age / [#LATE_NANOS]); their quotient is the recent rate.
    private double lateCalls;

    private double lateNanos;

    /// The highest rate between two looks while all calls were counted.
    private double highest;

    /// Slices so far, CPU time outside slices, and sum and number of the rates of blocks that have met calls.
    private long slices;

    private double unseen;
    private double ratesMet;
    private long met;

    /// Of neighbouring slices in the current block: their spread, see [#addSpread].
    private double waitingSquares;

    private long waitingPairs;

    /// The same of all blocks.
    private double squares;

    private long pairs;

    /// Sums over blocks: variances v, and v^2 divided by its degrees of freedom.
    private double variance;

    private double variancesPerFreedom;

    /// @param nanos CPU time so far in which the function's probes were on and it was not called
    CallEstimate(double nanos) {
        addExact(0, nanos);
    }

    /// Adds calls counted while the probes stayed on.
    ///
    /// @param nanos CPU time of the program since the last look
    void addExact(double calls, double nanos) {
        exact += calls;
        if (nanos > 0) {
            highest = Math.max(highest, Math.min(calls / nanos, RATE_LIMIT));
            observe(calls / nanos, nanos);
        }
    }

    /// Adds a gap in which the probes were not there yet.
    void addGap(double nanos) {
        gaps += nanos;
    }

    /// Adds a gap after a thread has stopped the function, because it was called more often than before: the rate is
    /// that of the time before the stop.
    ///
    /// @param calls counted since the last look, in `open` nanoseconds
    /// @param nanos the gap
    void addStop(double calls, double open, double nanos) {
        double guess = nanos * (open > 0 && calls > 0 ? Math.min(calls / open, RATE_LIMIT) : lateRate());
        blocks += guess;
        guessed += guess;
    }

    private void observe(double newest, double nanos) {
        observed += nanos;
        double kept = Math.exp(-nanos / LATE_NANOS);
        double fresh = LATE_NANOS * (1 - kept);
        lateCalls = kept * lateCalls + fresh * newest;
        lateNanos = kept * lateNanos + fresh;
    }

    /// Slices the function from now on.
    ///
    /// @param calls per nanosecond, if a better rate is known; else NaN
    void startSlices(double calls) {
        sliced = true;
        if (!Double.isNaN(calls)) {
            lateCalls = calls * LATE_NANOS;
            lateNanos = LATE_NANOS;
        }
        meet(Math.max(highest, lateRate()));
    }

    /// Ends slicing: the function's probes stay on from now on.
    void endSlices() {
        blocks += waitingCalls();
        guessed += waitingCalls();
        forgetBlock();
        sliced = false;
    }

    boolean isSliced() {
        return sliced;
    }

    /// Adds the spread of rates between neighbouring slices since the last look; before [#addSlices].
    ///
    /// @param squares sum of (r - s)^2 / (1/t + 1/u) over pairs of successive rates r, s in CPU times t, u
    /// @param pairs   their number
    void addSpread(double squares, long pairs) {
        waitingSquares += squares;
        waitingPairs += pairs;
    }

    /// Adds what happened since the last look.
    ///
    /// @param all    CPU time
    /// @param calls  counted in slices
    /// @param slices number of slices
    /// @param nanos  CPU time in slices, without the cost of counting
    /// @param doubtful of this time, what counting may have taken beyond the prediction
    void addSlices(double all, double calls, long slices, double nanos, double doubtful) {
        waiting += all;
        waitingDoubtful += doubtful;
        waitingCalls += calls;
        waitingSlices += slices;
        waitingInSlices += nanos;
        if (waitingSlices >= SLICES && waitingInSlices >= SLICES * SLICE_NANOS) {
            endBlock();
        }
    }

    private void endBlock() {
        double newest = waitingCalls / waitingInSlices;
        blocks += newest * waiting;
        doubtful += waiting * tooLow(newest);
        addVariance(newest, waiting * Math.max(0, waiting - waitingInSlices) / waitingInSlices);
        slices += waitingSlices;
        unseen += Math.max(0, waiting - waitingInSlices);
        meet(newest);
        observe(newest, waiting);
        forgetBlock();
    }

    /// @param weight the block's variance, divided by the mean of squared differences
    private void addVariance(double newest, double weight) {
        squares += waitingSquares;
        pairs += waitingPairs;
        boolean own = waitingPairs > 0;
        double mean = own ? waitingSquares / waitingPairs : squares / Math.max(1, pairs);
        // A Poisson process has a variance equal to its mean.
        double added = weight * Math.max(mean, newest);
        variance += added;
        variancesPerFreedom += added * added / Math.max(1, FREEDOM_OF_DIFFERENCE * (own ? waitingPairs : pairs));
    }

    /// Effective degrees of freedom of a sum of variances (Satterthwaite 1946).
    private double freedom() {
        return variance == 0 ? 1 : variance * variance / variancesPerFreedom;
    }

    /// By how much the block's rate may be too low: at most as much again, as where counting took twice as long as
    /// the rest of the program. In the first slices of a busy program it may have taken nearly all of the time.
    private double tooLow(double newest) {
        double nanos = waitingInSlices - waitingDoubtful;
        double most = Math.min(nanos > 0 ? waitingCalls / nanos : RATE_LIMIT, 2 * newest);
        return Math.max(0, Math.min(most, RATE_LIMIT) - newest);
    }

    private void meet(double newest) {
        if (newest > 0) {
            ratesMet += newest;
            met++;
        }
    }

    private void forgetBlock() {
        waiting = 0;
        waitingCalls = 0;
        waitingSlices = 0;
        waitingInSlices = 0;
        waitingDoubtful = 0;
        waitingSquares = 0;
        waitingPairs = 0;
    }

    /// Estimated calls of the current block, by the recent rate if it has no slice yet.
    private double waitingCalls() {
        return waiting * (waitingInSlices >= SLICE_NANOS ? waitingCalls / waitingInSlices : lateRate());
    }

    /// CPU time of gaps divided by the CPU time in which calls were seen. [#calls] has no calls of gaps.
    double unseen() {
        return gaps == 0 ? 0 : gaps / observed;
    }

    private double lateRate() {
        return isKnown() ? lateCalls / lateNanos : 0;
    }

    private boolean isKnown() {
        return lateNanos > 0;
    }

    /// Recent calls per nanosecond of CPU time; NaN while unknown.
    double rate() {
        return isKnown() ? lateRate() : Double.NaN;
    }

    /// The function's calls so far, without those of gaps.
    double calls() {
        return exact + blocks + waitingCalls();
    }

    /// Variance of a normal distribution whose 95 % interval is as wide as that of [#calls].
    double variance() {
        double waited = slices == 0 && !isKnown() ? RATE_MAX * waiting : waitingCalls();
        double unmet = guessed + waited;
        double guess = square(unmet / Confidence.QUANTILE_95) + square(doubtful / Confidence.QUANTILE_95);
        if (slices == 0) {
            return guess;
        }
        double wider = Confidence.quantile95(freedom()) / Confidence.QUANTILE_95;
        // In a phase that no slice met, the rate is taken to be the mean of the slices that met calls.
        double part = Math.min(1, Confidence.UNMET_OBSERVATIONS / slices);
        double phase = met == 0 ? 0 : part * unseen * ratesMet / met;
        return variance * wider * wider + guess + square(phase / Confidence.QUANTILE_95);
    }

    private static double square(double value) {
        return value * value;
    }
}
