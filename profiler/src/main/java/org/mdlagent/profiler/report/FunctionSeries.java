package org.mdlagent.profiler.report;

import java.util.Arrays;
import java.util.OptionalLong;

/// The figures of the functions that a monitoring system cannot tell apart, added up.
///
/// The durations are counted in three buckets a decade: a call counts where the middle of its slot lies, so at most
/// 0.4 % of a bound away from its own side.
final class FunctionSeries {
    /// Bounds of the buckets in nanoseconds: 1, 2 and 5 of each decade from 100 ns to 10 s, and what lies outside.
    private static final double[] BOUNDS = bounds();

    static final int BUCKETS = BOUNDS.length - 1;

    /// What tells functions apart.
    ///
    /// @param file source file, "" when unknown
    record Labels(String function, String file, String image) {
        static Labels of(FunctionProfile function) {
            return new Labels(function.name(), function.file() == null ? "" : function.file(), function.image());
        }
    }

    private final Labels labels;
    private final long[] buckets = new long[BUCKETS];
    private long calls;
    private OptionalLong total = OptionalLong.empty();
    private OptionalLong self = OptionalLong.empty();
    private boolean timed;
    private long timedNanos;

    FunctionSeries(Labels labels) {
        this.labels = labels;
    }

    private static double[] bounds() {
        double[] bounds = new double[27];
        for (int i = 1; i < bounds.length - 1; i++) {
            double digit = new double[] {1, 2, 5}[(i - 1) % 3];
            // A bound belongs to the bucket below it.
            bounds[i] = Math.nextUp(digit * Math.pow(10, 2 + (i - 1) / 3));
        }
        bounds[bounds.length - 1] = Double.POSITIVE_INFINITY;
        return bounds;
    }

    /// The greatest duration of a bucket in nanoseconds; the last one has none.
    static OptionalLong bound(int bucket) {
        double bound = BOUNDS[bucket + 1];
        return Double.isInfinite(bound) ? OptionalLong.empty() : OptionalLong.of(Math.round(bound));
    }

    void add(FunctionProfile function) {
        Latency latency = function.latency();
        calls += function.calls();
        total = sum(total, function.totalNanos());
        self = sum(self, function.selfNanos());
        if (latency.known()) {
            timed = true;
            timedNanos += latency.totalNanos().orElse(0);
            long[] more = latency.spread(BOUNDS);
            Arrays.setAll(buckets, i -> buckets[i] + more[i]);
        }
    }

    /// Raises each figure to what it was before.
    void atLeast(FunctionSeries before) {
        calls = Math.max(calls, before.calls);
        total = max(total, before.total);
        self = max(self, before.self);
        timed |= before.timed;
        timedNanos = Math.max(timedNanos, before.timedNanos);
        Arrays.setAll(buckets, i -> Math.max(buckets[i], before.buckets[i]));
    }

    private static OptionalLong sum(OptionalLong a, OptionalLong b) {
        return a.isEmpty() ? b : OptionalLong.of(a.getAsLong() + b.orElse(0));
    }

    private static OptionalLong max(OptionalLong a, OptionalLong b) {
        return a.isEmpty() ? b : OptionalLong.of(Math.max(a.getAsLong(), b.orElse(0)));
    }

    Labels labels() {
        return labels;
    }

    /// Counted, or estimated in a sampled session.
    OptionalLong calls() {
        return OptionalLong.of(calls);
    }

    /// Nanoseconds in the functions and what they called, over all their calls.
    OptionalLong total() {
        return total;
    }

    /// The same without the probed functions that they called.
    OptionalLong self() {
        return self;
    }

    /// Whether there are durations.
    boolean timed() {
        return timed;
    }

    /// Sum of the durations in the buckets.
    long timedNanos() {
        return timedNanos;
    }

    /// Calls of a bucket, without those of shorter ones.
    long inBucket(int bucket) {
        return buckets[bucket];
    }
}
