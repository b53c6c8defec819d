package org.mdlagent.arch.site;

/// Measured overhead of recording code per call of an empty function, in ticks of the time-stamp counter.
public final class RecordingTicks {
    public static final int COUNTED = 8;

    /// For a call that a slice counts.
    public static final int SLICED = 6;

    /// For a call whose duration goes into the thread's row.
    public static final int EXACT = 58;

    /// For a randomly timed call, whose stub and row are not cached.
    public static final int BY_CHANCE = 400;

    /// In addition, reading the thread's CPU time from the kernel at entry and exit.
    public static final int CPU_TIME = 950;

    private RecordingTicks() {}
}
