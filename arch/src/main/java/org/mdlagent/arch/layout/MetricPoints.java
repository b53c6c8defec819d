package org.mdlagent.arch.layout;

/// The points of a metric's history: their number and the half that holds them are one word of its record.
public final class MetricPoints {
    private MetricPoints() {}

    /// The half of the points that a history uses, from its word.
    public static int half(long history) {
        return (int) (history >>> Integer.SIZE);
    }

    /// Number of points of a history, from its word.
    public static int count(long history) {
        return (int) history;
    }

    /// The word of a history.
    public static long history(int half, int count) {
        return (long) half << Integer.SIZE | count;
    }

    /// Offset in the record of a point.
    public static long point(int half, int index) {
        return MetricDescriptor.POINTS + ((long) half * MetricDescriptor.HISTORY_POINTS + index) * PointDescriptor.SIZE;
    }
}
