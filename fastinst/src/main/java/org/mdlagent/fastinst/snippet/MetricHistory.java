package org.mdlagent.fastinst.snippet;

import org.mdlagent.arch.layout.MetricDescriptor;
import org.mdlagent.arch.layout.MetricPoints;
import org.mdlagent.arch.layout.PointDescriptor;
import org.mdlagent.arch.shim.Memory;

/// A metric's values at the ends of equal intervals, from its start until now, in bounded room: when that is
/// full, each two intervals are merged into one (Paradyn's folding).
///
/// Readers of the session see all of a history, or all of the one before the last folding, until the next
/// folding. A folded history goes to the other half of the room, and one word says which half is current.
final class MetricHistory {
    private static final long FIRST_INTERVAL_NANOS = 100_000_000;

    private final long record;
    private long interval = FIRST_INTERVAL_NANOS;
    private long next;
    private int half;
    private int count;

    /// @param record of the metric, without points
    /// @param now    nanoseconds of [System#nanoTime]
    MetricHistory(long record, long now) {
        this.record = record;
        next = now + interval;
    }

    /// Whether an interval has ended.
    boolean isDue(long now) {
        return now - next >= 0;
    }

    /// Adds a point. Missed intervals have none.
    void add(long now, long tsc, double amount) {
        if (count == MetricDescriptor.HISTORY_POINTS) {
            fold();
        }
        put(half, count, tsc, Double.doubleToRawLongBits(amount));
        count++;
        publish();
        next += (now - next) / interval * interval + interval;
    }

    private void fold() {
        int other = 1 - half;
        for (int i = 0; i < count / 2; i++) {
            long point = record + MetricPoints.point(half, 2 * i + 1);
            put(other, i, Memory.getLong(point + PointDescriptor.TSC), Memory.getLong(point + PointDescriptor.AMOUNT));
        }
        half = other;
        count /= 2;
        interval *= 2;
        publish();
    }

    private void put(int into, int index, long tsc, long amount) {
        long point = record + MetricPoints.point(into, index);
        Memory.putLong(point + PointDescriptor.TSC, tsc);
        Memory.putLong(point + PointDescriptor.AMOUNT, amount);
    }

    private void publish() {
        Memory.putLongRelease(record + MetricDescriptor.HISTORY, MetricPoints.history(half, count));
    }
}
