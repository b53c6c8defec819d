package org.mdlagent.profiler.sampled;

import org.mdlagent.profiler.estimate.Confidence;

/// The estimate of one function's calls: exact counts while its probes stay on, and ratio estimates while it is
/// sliced (Cochran, "Sampling Techniques", 3rd edition, chapter 6).
///
/// A *block* is the time in which there were some slices, so that one that met a program without a processor
/// does not decide alone. Its calls in slices over the program's CPU time in slices is the block's rate; its
/// calls are that rate times all of the CPU time in the block. CPU times are in nanoseconds, without what slices
/// have cost.
///
/// How much slices differ is told by neighbouring blocks: the estimator by successive differences (Wolter,
/// "Introduction to Variance Estimation", 2nd edition, chapter 8), which knows phases of the program.
final class CallEstimate {
    /// Degrees of freedom of each difference, where blocks are independent.
    private static final double FREEDOM_OF_DIFFERENCE = 2.0 / 3;

    /// The rate of late is that of about so much CPU time.
    private static final double LATE_NANOS = 500e6;

    /// Hardly a function is called more often, in calls for each nanosecond: a bound while there was no slice.
    private static final double RATE_MAX = 0.01;

    /// Slices of a block, and the CPU time in them, at least.
    private static final int SLICES = 4;

    private static final double SLICE_NANOS = 100e3;

    /// Of what counting takes where caches hold all that it needs, so much more may have been taken. In a loop of an
    /// empty function it took 6 to 10 ticks, with hooks or a busy neighbour on the processor 13; 6 are predicted.
    private static final double DOUBT = 1.25;

    /// A call and its return take 1.2 ns at least: calls for each nanosecond.
    private static final double RATE_LIMIT = 0.8;

    private double exact;
    private double blocks;

    /// CPU time in which calls were counted, and in blocks.
    private double observed;

    /// CPU time in which the probes were off, unexpectedly.
    private double gaps;

    /// The part of the blocks that no slice has met.
    private double guessed;

    /// How far the blocks may be too low, because counting took longer than was predicted.
    private double doubtful;

    /// Of the block that has not ended: its CPU time, that in slices, calls in these, and their number.
    private double waiting;

    private double waitingInSlices;
    private double waitingHot;
    private double waitingCalls;
    private long waitingSlices;

    private boolean sliced;

    /// Calls and CPU time, each weighted by exp(-age / [#LATE_NANOS]): the first over the second is the rate of late.
    private double lateCalls;

    private double lateNanos;

    /// Slices so far, CPU time in none, and the rates of blocks that have met calls: their sum and number.
    private long slices;

    private double unseen;
    private double ratesMet;
    private long met;

    /// Of all blocks: their number, the sum of w² / t, w the block's CPU time and t that in slices, less what
    /// was seen.
    private long number;

    private double weights;

    /// Of neighbours: squares of what their rates differ by, and the sum of 1 / t of both.
    private double squares;

    private double inverses;
    private double rateBefore;
    private double nanosBefore;

    /// @param nanos CPU time of the program so far, in which the function's probes were on and it was not called
    CallEstimate(double nanos) {
        addExact(0, nanos);
    }

    /// Calls that were counted while the probes stayed on.
    ///
    /// @param nanos CPU time of the program since the last look
    void addExact(double calls, double nanos) {
        exact += calls;
        if (nanos > 0) {
            observe(calls / nanos, nanos);
        }
    }

    /// The probes were off, unexpectedly. Calls are taken to have come as often as on average in all the CPU time
    /// that is known, before the gap and after it.
    void addGap(double nanos) {
        gaps += nanos;
    }

    private void observe(double newest, double nanos) {
        observed += nanos;
        double kept = Math.exp(-nanos / LATE_NANOS);
        double fresh = LATE_NANOS * (1 - kept);
        lateCalls = kept * lateCalls + fresh * newest;
        lateNanos = kept * lateNanos + fresh;
    }

    /// The function is sliced from now on.
    ///
    /// @param calls for each nanosecond, where that is known better than before; else not a number
    void startSlices(double calls) {
        sliced = true;
        if (!Double.isNaN(calls)) {
            lateCalls = calls * LATE_NANOS;
            lateNanos = LATE_NANOS;
        }
        rateBefore = lateRate();
        meet(rateBefore);
        nanosBefore = 0;
    }

    /// The function's probes stay on from now on.
    void endSlices() {
        blocks += waitingCalls();
        guessed += waitingCalls();
        forgetBlock();
        sliced = false;
    }

    boolean isSliced() {
        return sliced;
    }

    /// Adds what there was since the last look.
    ///
    /// @param all    its CPU time
    /// @param calls  that were counted in slices
    /// @param slices how many there were
    /// @param nanos  CPU time in slices, without what counting has taken
    /// @param hot    of that, as it is predicted, what it takes where caches hold all that it needs
    void addSlices(double all, double calls, long slices, double nanos, double hot) {
        waiting += all;
        waitingHot += hot;
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
        weights += waiting * Math.max(0, waiting - waitingInSlices) / waitingInSlices;
        number++;
        slices += waitingSlices;
        unseen += Math.max(0, waiting - waitingInSlices);
        meet(newest);
        if (nanosBefore > 0) {
            squares += (newest - rateBefore) * (newest - rateBefore);
            inverses += 1 / waitingInSlices + 1 / nanosBefore;
        }
        rateBefore = newest;
        nanosBefore = waitingInSlices;
        observe(newest, waiting);
        forgetBlock();
    }

    /// By how much the rate of the block may be too low.
    private double tooLow(double newest) {
        double nanos = waitingInSlices - DOUBT * waitingHot;
        double most = nanos > 0 ? waitingCalls / nanos : RATE_LIMIT;
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
        waitingHot = 0;
    }

    /// Calls of the block that has not ended, at the rate of late where it has no slice yet.
    private double waitingCalls() {
        return waiting * (waitingInSlices >= SLICE_NANOS ? waitingCalls / waitingInSlices : lateRate());
    }

    /// Calls in gaps. A rate is no guide to more time than it was observed in: the first milliseconds of a program,
    /// which initializes then, say little of the seconds after them.
    private double gapCalls() {
        return gaps == 0 || observed == 0 ? 0 : (exact + blocks) * Math.min(1, gaps / observed);
    }

    private double lateRate() {
        return isKnown() ? lateCalls / lateNanos : 0;
    }

    private boolean isKnown() {
        return lateNanos > 0;
    }

    /// Calls for each nanosecond of CPU time, of late; not a number while nothing is known.
    double rate() {
        return isKnown() ? lateRate() : Double.NaN;
    }

    /// The function's calls so far.
    double calls() {
        return exact + blocks + gapCalls() + waitingCalls();
    }

    /// Variance that a normal distribution had with an interval as wide as that of [#calls].
    double variance() {
        double waited = number == 0 && !isKnown() ? RATE_MAX * waiting : waitingCalls();
        double unmet = guessed + gapCalls() + waited;
        double guess = square(unmet / Confidence.QUANTILE_95) + square(doubtful / Confidence.QUANTILE_95);
        if (number == 0) {
            return guess;
        }
        double least = lateRate(); // calls that come by chance vary by as many as there are
        double seen = inverses > 0 ? squares / inverses : least;
        double freedom = Math.max(1, FREEDOM_OF_DIFFERENCE * (number - 1));
        double wider = Confidence.quantile95(freedom) / Confidence.QUANTILE_95;
        // In a phase that no slice has met, calls came as often as in those slices that have met any.
        double part = Math.min(1, Confidence.UNMET_OBSERVATIONS / slices);
        double phase = met == 0 ? 0 : part * unseen * ratesMet / met;
        return weights * Math.max(seen, least) * wider * wider + guess + square(phase / Confidence.QUANTILE_95);
    }

    private static double square(double value) {
        return value * value;
    }
}
