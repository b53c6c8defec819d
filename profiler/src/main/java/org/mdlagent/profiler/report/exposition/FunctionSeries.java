package org.mdlagent.profiler.report.exposition;

import java.util.Arrays;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Latency;

/// The summed figures of functions that a monitoring system cannot tell apart.
///
/// Durations are kept by slot of [Latency], in ticks, and converted to nanoseconds by the frequency known at
/// the first look. Later estimates of the frequency are better, but a slot that moved to another bucket would
/// let a counter fall. Buckets are three per decade; a call counts in the bucket of its slot's middle, so at
/// most 0.4 % of a bound away from the correct side.
final class FunctionSeries {
    /// Upper bounds of the buckets in nanoseconds: 1, 2 and 5 of each decade from 100 ns to 10 s, and one
    /// unbounded bucket.
    private static final double[] BOUNDS = bounds();

    static final int BUCKETS = BOUNDS.length - 1;

    /// The labels that identify a function.
    ///
    /// @param file source file, "" when unknown
    record Labels(String function, String file, String image) {
        static Labels of(FunctionProfile function) {
            return new Labels(function.name(), function.file() == null ? "" : function.file(), function.image());
        }
    }

    private final Labels labels;

    /// Durations of timed calls, by slot.
    private final TreeMap<Integer, Long> timedSlots = new TreeMap<>();

    /// Durations of all calls, by slot: each timed call is weighted by the calls that it stands for.
    private TreeMap<Integer, Long> slots = new TreeMap<>();

    private double nanosPerTick;
    private long calls;
    private OptionalLong total = OptionalLong.empty();
    private OptionalLong self = OptionalLong.empty();
    private boolean timed;

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

    /// The upper bound of a bucket in nanoseconds; empty for the last.
    static OptionalLong bound(int bucket) {
        double bound = BOUNDS[bucket + 1];
        return Double.isInfinite(bound) ? OptionalLong.empty() : OptionalLong.of(Math.round(bound));
    }

    void add(FunctionProfile function) {
        Latency latency = function.latency();
        calls += function.calls();
        total = sum(total, function.totalNanos());
        self = sum(self, function.shownSelfNanos());
        if (latency.known()) {
            timed = true;
            nanosPerTick = latency.nanosPerTick();
            TreeMap<Integer, Long> own = new TreeMap<>();
            for (int n = 0; n < latency.size(); n++) {
                own.merge(latency.slot(n), latency.calls(n), Long::sum);
            }
            own.forEach((slot, count) -> timedSlots.merge(slot, count, Long::sum));
            // Of an exact function, only returned calls have durations.
            spread(own, function.exact() ? latency.count() : function.calls());
        }
    }

    /// Adds calls with the same distribution of durations.
    private void spread(SortedMap<Integer, Long> like, long added) {
        double each = (double) added / Math.max(1, sum(like));
        long seen = 0;
        long told = 0;
        for (var slot : like.entrySet()) {
            seen += slot.getValue();
            long upToHere = Math.round(seen * each);
            slots.merge(slot.getKey(), upToHere - told, Long::sum);
            told = upToHere;
        }
    }

    /// Raises each figure to its former value at least. New calls get the durations timed since.
    void atLeast(FunctionSeries before) {
        calls = Math.max(calls, before.calls);
        total = max(total, before.total);
        self = max(self, before.self);
        timed |= before.timed;
        nanosPerTick = before.timed ? before.nanosPerTick : nanosPerTick;
        TreeMap<Integer, Long> since = new TreeMap<>();
        timedSlots.forEach((slot, count) -> {
            if (count > before.timedSlots.getOrDefault(slot, 0L)) {
                since.put(slot, count - before.timedSlots.getOrDefault(slot, 0L));
            }
        });
        long added = sum(slots) - sum(before.slots);
        TreeMap<Integer, Long> like = since.isEmpty() ? timedSlots : since;
        slots = new TreeMap<>(before.slots);
        if (added > 0) {
            spread(like, added);
        }
        before.timedSlots.forEach((slot, count) -> timedSlots.merge(slot, count, Math::max));
    }

    private static long sum(SortedMap<Integer, Long> slots) {
        return slots.values().stream().mapToLong(Long::longValue).sum();
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

    /// Calls: counted, or estimated in a sampled session.
    OptionalLong calls() {
        return OptionalLong.of(calls);
    }

    /// Total nanoseconds in the functions and their callees, over all calls.
    OptionalLong total() {
        return total;
    }

    /// Total nanoseconds without probed callees.
    OptionalLong self() {
        return self;
    }

    /// Whether there are durations.
    boolean timed() {
        return timed;
    }

    /// Calls with a duration, by bucket, not cumulative.
    long[] buckets() {
        long[] buckets = new long[BUCKETS];
        forEachDuration((nanos, count) -> {
            int bucket = Arrays.binarySearch(BOUNDS, nanos);
            buckets[bucket < 0 ? -bucket - 2 : bucket] += count;
        });
        return buckets;
    }

    /// Passes all durations, shortest first.
    void forEachDuration(DurationConsumer consumer) {
        slots.forEach((slot, count) -> consumer.accept(Latency.middleTicks(slot) * nanosPerTick, count));
    }

    interface DurationConsumer {
        void accept(double nanos, long calls);
    }
}
