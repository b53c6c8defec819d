package org.mdlagent.profiler.estimate;

import org.mdlagent.arch.site.RecordingTicks;

/// What probes cost the program, observed: the calls that recording code has counted anyway, times what it was
/// measured to add to a call of an empty function ("Performance Measurement Tools and MDL", 1997, calls the sum
/// obsCost). In ticks of the time-stamp counter; a call into memory that is not in a cache costs more.
///
/// In sampled sessions a timed call has its part of what a window costs besides: code that has just been changed, and
/// stubs and records that no cache holds, and the calls that warm these. That figure was fitted to the CPU time that
/// sqlite3 and Lua take without a budget, beside runs without probes.
///
/// @param cpuTime whether durations are measured by the threads' CPU time
public record ProbeCost(boolean cpuTime) {
    private static final double TIMED = 1000;

    /// Of functions that are sampled.
    ///
    /// @param counted calls that were counted
    /// @param timed   of these, calls of which a record was written
    public double sampled(long counted, long timed) {
        return RecordingTicks.COUNTED * (double) counted + TIMED * timed + clock(timed);
    }

    /// Of functions whose calls are all counted, and timed by chance.
    ///
    /// @param timed of the calls
    public double counted(double calls, double timed) {
        return RecordingTicks.COUNTED * calls + RecordingTicks.BY_CHANCE * timed + clock(timed);
    }

    /// How many of a row's calls were timed by chance: its function may have been exact at times.
    ///
    /// @param calls that the timed ones stand for
    /// @param most  calls that one of them stands for
    public static double byChance(long calls, long timed, int most) {
        return most <= 1 ? 0 : Math.min(timed, (double) Math.max(0, calls - timed) / (most - 1));
    }

    /// Of functions whose calls are all recorded.
    ///
    /// @param timed calls that have returned
    public double exact(long timed) {
        return RecordingTicks.EXACT * (double) timed + clock(timed);
    }

    private double clock(double timed) {
        return cpuTime ? RecordingTicks.CPU_TIME * timed : 0;
    }
}
