package org.mdlagent.profiler.sampled;

import org.mdlagent.profiler.estimate.Confidence;

/// The estimate of one function's calls: exact counts, and ratio estimates of blocks of windows (Cochran, "Sampling
/// Techniques", 3rd edition, chapter 6).
///
/// Within a block, calls in windows over the program's CPU time in windows is the rate; the block's calls are the
/// rate times all of its CPU time in the block. Each window counts as much as the time since the one before: rests
/// are not alike. CPU times are in nanoseconds.
///
/// How much windows differ is told by what lies between each and the one before, of all blocks together: the estimator
/// by successive differences (Wolter, "Introduction to Variance Estimation", 2nd edition, chapter 8). A block by itself
/// has too few windows: where all of a block's have missed a phase of the program, they are alike.
///
/// A phase of the program that no window has met is in none of that. Of the time it took no more than three parts for
/// each window that there was, in 95 of 100 cases (the rule of three: Hanley, Lippman-Hand, "If Nothing Goes Wrong, Is
/// Everything All Right?", JAMA 249, 1983). What the function may have been called in it is taken from what it was
/// called when it was: the mean rate of those windows that have met calls of it.
///
/// Windows see fewer calls than there would have been without them. What they are scaled by for that is predicted, and
/// may be wrong by a part of it, in all windows alike.
final class CallEstimate {
    /// Degrees of freedom of each difference, where windows are independent.
    private static final double FREEDOM_OF_DIFFERENCE = 2.0 / 3;

    /// What counting a call costs is predicted as 8 ticks. It was 3 where the processor had other work to do meanwhile.
    private static final double PREDICTION_PART = 0.6;

    /// So many parts of the time for each window may have been a phase that no window has met.
    private static final double UNMET_PARTS = 3;

    /// Where there was no window at all, a function was called as often as it ever was while all calls were counted, at
    /// most. Where that is not known, for these were too few, or so many times the time has passed since, hardly a
    /// function is called more often than this, in calls for each nanosecond.
    private static final double RATE_MAX = 0.01;

    private static final double KNOWN_FOR = 10;

    private static final long CALLS_KNOWN = 64;

    /// The rate of late is that of about so much of the program's time: it is what a function is taken to be called at
    /// until a window tells better, and what a single look has seen hangs on what the program did just then.
    private static final double LATE_NANOS = 1e9;

    private double exact;

    /// The highest rate while all calls were counted, 0 where that is not known.
    private double peak;

    /// The time in which all calls were counted.
    private double countedNanos;

    /// Calls of late, the older the less they weigh; as of when, and since when.
    private double late;

    private double lateNow;
    private double lateSince = Double.NaN;

    private double blocks;

    /// Of these, calls that were added for what windows cost.
    private double added;

    /// Of ended blocks: what the variance of a window's rate is to be multiplied by.
    private double weights;

    /// Whether there are windows; else calls are counted exactly.
    private boolean windowed;

    /// Of the block.
    private double blockStart;

    private double lastRate;
    private int windows;
    private double lastWindow;

    /// Of the block's windows, each as often as the time that it stands for: that since the one before.
    private double calls;

    private double callsAdded;
    private double nanos;

    /// Of the block's windows, each once; and the time that they stand for, and its squares.
    private double seen;

    private double spans;
    private double spansSquared;

    /// Of ended blocks: their time that was in no window.
    private double unseen;

    /// The sum of the rates of windows that have met calls, and of what was known before the first; how many these are.
    private double ratesMet;

    private long met;

    /// Of all windows.
    private long windowsEver;

    private double callsEver;
    private double nanosEver;
    private double nanosSquaredEver;

    /// Of the window before; and the squares and products of what successive ones differ by.
    private double callsBefore;

    private double nanosBefore;
    private double calls2;
    private double callsNanos;
    private double nanos2;

    /// @param now   when they end
    /// @param nanos CPU time of the program in which these calls were
    void addExact(long count, double now, double nanos) {
        exact += count;
        if (nanos <= 0) {
            return;
        }
        countedNanos += nanos;
        if (count >= CALLS_KNOWN) {
            peak = Math.max(peak, count / nanos);
        }
        if (Double.isNaN(lateSince)) {
            lateSince = now - nanos;
        }
        late = late * weight(now - lateNow) + count * LATE_NANOS / nanos * (1 - weight(nanos));
        lateNow = now;
    }

    private static double weight(double age) {
        return Math.exp(-Math.max(0, age) / LATE_NANOS);
    }

    /// Calls for each nanosecond of late, while all were counted; 0 where that is not known.
    double lateRate(double now) {
        double span = now - lateSince;
        return span > 0 ? late * weight(now - lateNow) / LATE_NANOS / (1 - weight(span)) : 0;
    }

    /// Starts the first block after calls were counted exactly.
    ///
    /// @param rate        calls for each nanosecond at last, which holds until a window tells better
    /// @param windowNanos how long a window lasts, roughly
    void startWindows(double now, double rate, double windowNanos) {
        startBlock(now, rate);
        windowed = true;
        callsBefore = rate * windowNanos;
        nanosBefore = windowNanos;
        meet(rate);
    }

    private void meet(double rate) {
        if (rate > 0) {
            ratesMet += rate;
            met++;
        }
    }

    private void startBlock(double now, double rate) {
        lastRate = rate;
        blockStart = now;
        lastWindow = now;
        windows = 0;
        seen = 0;
        spans = 0;
        spansSquared = 0;
        calls = 0;
        callsAdded = 0;
        nanos = 0;
    }

    /// @param now           its end
    /// @param counted       calls in the window
    /// @param slowdown      how much longer than without it the program took for them, as predicted: 1 or more
    /// @param observedNanos CPU time of the program in the window
    void addWindow(double now, double counted, double slowdown, double observedNanos) {
        double count = counted * slowdown;
        double span = now - lastWindow;
        lastWindow = now;
        windows++;
        calls += span * count;
        callsAdded += span * (count - counted);
        nanos += span * observedNanos;
        seen += observedNanos;
        spans += span;
        spansSquared += span * span;
        windowsEver++;
        meet(observedNanos > 0 ? count / observedNanos : 0);
        callsEver += count;
        nanosEver += observedNanos;
        nanosSquaredEver += observedNanos * observedNanos;
        double moreCalls = count - callsBefore;
        double moreNanos = observedNanos - nanosBefore;
        calls2 += moreCalls * moreCalls;
        callsNanos += moreCalls * moreNanos;
        nanos2 += moreNanos * moreNanos;
        callsBefore = count;
        nanosBefore = observedNanos;
    }

    /// Ends the block and starts the next.
    void endBlock(double now) {
        blocks += blockCalls(now);
        added += blockAdded(now);
        weights += blockWeight(now);
        unseen += Math.max(0, blockNanos(now) - seen);
        startBlock(now, rate());
    }

    /// Ends the block; what comes is counted exactly.
    void endWindows(double now) {
        endBlock(now);
        late = 0;
        lateSince = Double.NaN;
        windowed = false;
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
        double weight = weights + blockWeight(now);
        if (weight == 0) {
            return 0;
        }
        if (nanosEver == 0) {
            double unseenNanos = unseenNanos(now);
            double rate = peak > 0 && unseenNanos <= KNOWN_FOR * countedNanos ? peak : RATE_MAX;
            double most = Math.max(blocks + blockCalls(now), rate * unseenNanos);
            return square(most / Confidence.QUANTILE_95);
        }
        double wider = Confidence.quantile95(Math.max(1, FREEDOM_OF_DIFFERENCE * windowsEver)) / Confidence.QUANTILE_95;
        double prediction = PREDICTION_PART * (added + blockAdded(now)) / Confidence.QUANTILE_95;
        double unmet = unmetCalls(now) / Confidence.QUANTILE_95;
        return weight * varianceOfRate() * wider * wider + prediction * prediction + unmet * unmet;
    }

    /// Calls that there may have been in a phase that no window has met.
    private double unmetCalls(double now) {
        double part = Math.min(1, UNMET_PARTS / Math.max(1, windowsEver));
        return met == 0 ? 0 : part * unseenNanos(now) * ratesMet / met;
    }

    /// The program's time in no window.
    private double unseenNanos(double now) {
        return unseen + Math.max(0, blockNanos(now) - seen);
    }

    private static double square(double value) {
        return value * value;
    }

    private double varianceOfRate() {
        double rate = callsEver / nanosEver;
        double squares = Math.max(0, calls2 - 2 * rate * callsNanos + rate * rate * nanos2);
        return squares / 2 / nanosSquaredEver;
    }

    private double blockCalls(double now) {
        return rate() * blockNanos(now);
    }

    private double blockAdded(double now) {
        return nanos > 0 ? callsAdded / nanos * blockNanos(now) : 0;
    }

    private double blockNanos(double now) {
        return windowed ? now - blockStart : 0;
    }

    private double rate() {
        return nanos > 0 ? calls / nanos : lastRate;
    }

    /// Where it has no windows yet, a block is taken to be as its last rate was. Windows of little CPU time tell
    /// little.
    private double blockWeight(double now) {
        double all = blockNanos(now);
        double part = nanos > 0 ? nanosSquaredEver / nanosEver / seen : 1;
        double uneven = nanos > 0 ? windows * spansSquared / spans / spans : 1;
        return all * Math.max(0, all - seen) * part * uneven;
    }
}
