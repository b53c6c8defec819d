package org.mdlagent.profiler.report.exposition;

import java.util.Arrays;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Latency;

/// The figures of the functions that a monitoring system cannot tell apart, added up.
///
/// Durations are kept by the slots of [Latency], in ticks, and become nanoseconds by the frequency of the first look.
/// It is known ever better, and a slot that went from bucket to bucket would let one fall. In buckets, of which there
/// are three a decade, a call counts where the middle of its slot lies, so at most 0.4 % of a bound away from its own
/// side.
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
    private final TreeMap<Integer, Long> slots = new TreeMap<>();
    private double nanosPerTick;
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
            nanosPerTick = latency.nanosPerTick();
            for (int n = 0; n < latency.size(); n++) {
                slots.merge(latency.slot(n), latency.calls(n), Long::sum);
            }
        }
    }

    /// Raises each figure to what it was before.
    void atLeast(FunctionSeries before) {
        calls = Math.max(calls, before.calls);
        total = max(total, before.total);
        self = max(self, before.self);
        timed |= before.timed;
        timedNanos = Math.max(timedNanos, before.timedNanos);
        before.slots.forEach((slot, count) -> slots.merge(slot, count, Math::max));
        nanosPerTick = before.timed ? before.nanosPerTick : nanosPerTick;
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

    /// Calls of each bucket, without those of shorter ones.
    long[] buckets() {
        long[] buckets = new long[BUCKETS];
        forEachDuration((nanos, count) -> {
            int bucket = Arrays.binarySearch(BOUNDS, nanos);
            buckets[bucket < 0 ? -bucket - 2 : bucket] += count;
        });
        return buckets;
    }

    /// Tells of all durations, the shortest first.
    void forEachDuration(DurationConsumer consumer) {
        slots.forEach((slot, count) -> consumer.accept(Latency.middleTicks(slot) * nanosPerTick, count));
    }

    interface DurationConsumer {
        void accept(double nanos, long calls);
    }
}
