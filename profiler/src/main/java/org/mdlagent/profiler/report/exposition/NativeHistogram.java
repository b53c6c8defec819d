package org.mdlagent.profiler.report.exposition;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Durations as a Prometheus native histogram: the bucket with index i holds durations above `b^(i-1)` and up
/// to `b^i` seconds, where b is `2^(2^-SCHEMA)`. So buckets are 9 % wide, which bounds the error of any
/// quantile; empty buckets cost nothing.
///
/// @param zeros   calls that took no longer than [#ZERO_SECONDS]
/// @param buckets calls above that, by index
record NativeHistogram(long zeros, TreeMap<Integer, Long> buckets) {
    static final int SCHEMA = 3;

    /// A bucket boundary below one nanosecond.
    static final double ZERO_SECONDS = 0x1p-30;

    private static final int PER_OCTAVE = 1 << SCHEMA;

    /// A run of consecutive buckets.
    ///
    /// @param offset index of the first bucket; in later spans, its distance from the end of the span before
    record Span(int offset, int length) {}

    static NativeHistogram of(FunctionSeries function) {
        TreeMap<Integer, Long> buckets = new TreeMap<>();
        long[] zeros = {0};
        function.forEachDuration((nanos, calls) -> {
            double seconds = nanos / 1e9;
            if (seconds <= ZERO_SECONDS) {
                zeros[0] += calls;
            } else {
                buckets.merge(index(seconds), calls, Long::sum);
            }
        });
        return new NativeHistogram(zeros[0], buckets);
    }

    private static int index(double seconds) {
        return (int) Math.ceil(Math.log(seconds) / Math.log(2) * PER_OCTAVE);
    }

    List<Span> spans() {
        List<Span> spans = new ArrayList<>();
        int end = 0;
        for (int index : buckets.keySet()) {
            if (!spans.isEmpty() && index == end) {
                Span last = spans.removeLast();
                spans.add(new Span(last.offset, last.length + 1));
            } else {
                spans.add(new Span(index - end, 1));
            }
            end = index + 1;
        }
        return spans;
    }

    /// The calls of each bucket in a span, minus those of the bucket before.
    long[] deltas() {
        long[] deltas = new long[buckets.size()];
        long before = 0;
        int at = 0;
        for (Map.Entry<Integer, Long> bucket : buckets.entrySet()) {
            deltas[at++] = bucket.getValue() - before;
            before = bucket.getValue();
        }
        return deltas;
    }
}
