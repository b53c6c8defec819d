package org.mdlagent.profiler.report.exposition;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Durations as a native histogram of Prometheus has them: the bucket with the index i holds those above
/// `b^(i-1)` and up to `b^i` seconds, where b is `2^(2^-SCHEMA)`. So buckets are 9 % wide, and a quantile is known
/// within that, whatever the function; those without calls cost nothing.
///
/// @param zeros   calls that took no longer than [#ZERO_SECONDS]
/// @param buckets calls above 0 by index
record NativeHistogram(long zeros, TreeMap<Integer, Long> buckets) {
    static final int SCHEMA = 3;

    /// A bound of buckets, and less than a nanosecond.
    static final double ZERO_SECONDS = 0x1p-30;

    private static final int PER_OCTAVE = 1 << SCHEMA;

    /// Neighbouring buckets that are told of.
    ///
    /// @param offset of the first: its index, in later spans its distance from the end of the one before
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

    /// The calls of each bucket in a span, less those of the bucket before.
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
