package org.mdlagent.arch.layout;

/// A thread's values, as `mdl/layout.h` has them: indices of 64-bit words, from the first. What each means stands
/// there.
public final class ValueDescriptor {
    /// How many a thread has.
    public static final int COUNT = 12_288;

    public static final int DEPTH = 0;

    public static final int COST = COUNT - 1;

    /// The first that snippets may have for themselves.
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
