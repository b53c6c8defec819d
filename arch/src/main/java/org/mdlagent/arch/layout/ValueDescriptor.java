package org.mdlagent.arch.layout;

/// Indices of a thread's values in `mdl/layout.h`: 64-bit words. The header documents each.
public final class ValueDescriptor {
    /// Number of values of a thread.
    public static final int COUNT = 12_288;

    public static final int DEPTH = 0;

    public static final int COST = COUNT - 1;

    /// The first value available to snippets.
    public static final int FIRST = 1;

    public static final int TIMER_NESTING = 0;
    public static final int TIMER_START = 1;
    public static final int TIMER_TOTAL = 2;
    public static final int TIMER_SIZE = 3;

    public static final byte KIND_NONE = 0;
    public static final byte KIND_COUNTER = 1;
    public static final byte KIND_FLAG = 2;
    public static final byte KIND_WALL_TIMER = 3;
    public static final byte KIND_PROCESS_TIMER = 4;
    public static final byte KIND_EVENTS = 5;

    private ValueDescriptor() {}
}
