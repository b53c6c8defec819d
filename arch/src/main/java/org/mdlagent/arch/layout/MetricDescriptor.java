package org.mdlagent.arch.layout;

/// Byte offsets in `struct mdl_metric` (`mdl/layout.h`), a metric that is measured for a focus. The header
/// documents each field.
public final class MetricDescriptor {
    public static final long NEXT = 0;
    public static final long STATE = 8;
    public static final long ID = 12;
    public static final long NAME = 16;
    public static final long UNITS = 20;
    public static final long FOCUS = 24;
    public static final long UNITS_TYPE = 28;
    public static final long COMBINE = 32;
    public static final long KIND = 36;
    public static final long VALUE = 40;
    public static final long ERRORS = 44;
    public static final long PID = 48;
    public static final long TID = 52;
    public static final long SINCE_TSC = 56;
    public static final long HISTORY = 64;
    public static final long EVENTS = 72;
    public static final long POINTS = 80;

    public static final int HISTORY_POINTS = 240;

    public static final long SIZE = POINTS + 2 * HISTORY_POINTS * PointDescriptor.SIZE;

    public static final int STATE_OFF = 0;
    public static final int STATE_ON = 1;

    /// Enabled once its focus is not empty.
    public static final int STATE_RESERVED = 2;

    public static final int UNITS_RATE = 0;
    public static final int UNITS_AMOUNT = 1;
    public static final int UNITS_SAMPLED = 2;

    public static final int COMBINE_SUM = 0;
    public static final int COMBINE_MIN = 1;
    public static final int COMBINE_MAX = 2;
    public static final int COMBINE_AVERAGE = 3;

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
        return POINTS + ((long) half * HISTORY_POINTS + index) * PointDescriptor.SIZE;
    }

    private MetricDescriptor() {}
}
