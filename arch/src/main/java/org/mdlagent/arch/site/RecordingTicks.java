package org.mdlagent.arch.site;

/// What recording code was measured to add to a call of an empty function, in ticks of the time-stamp counter.
public final class RecordingTicks {
    public static final int COUNTED = 8;

    /// Of a call that a slice counts.
    public static final int SLICED = 6;

    /// Of a call whose duration goes into the thread's row.
    public static final int EXACT = 58;

    /// Of one that is timed by chance: stub and row are in no cache.
    public static final int BY_CHANCE = 400;

    /// Besides, asking the kernel for the thread's CPU time, at the begin of a call and at its end.
    public static final int CPU_TIME = 950;

    private RecordingTicks() {}
}
