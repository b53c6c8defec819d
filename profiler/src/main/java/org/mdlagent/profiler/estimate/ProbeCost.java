package org.mdlagent.profiler.estimate;

import org.mdlagent.arch.site.RecordingTicks;

/// What probes cost the program, observed: the calls that recording code has counted anyway, times what it was
/// measured to add to a call of an empty function ("Performance Measurement Tools and MDL", 1997, calls the sum
/// obsCost), and what caches add to that. In ticks of the time-stamp counter.
///
/// @param cpuTime whether durations are measured by the threads' CPU time
public record ProbeCost(boolean cpuTime) {
    /// What a call that tells its caller costs besides: the ring and the shim's code for it are in no cache.
    private static final double TELLING = 1000;

    /// What a call costs besides where its stub, its site and its rows have left a cache since the last one,
    /// and at how many calls in a second of CPU time half of them are still there. The first cache is full of
    /// other things within some ten microseconds, the second within a part of a millisecond. Fitted to the CPU
    /// time of a sqlite3 that answers queries, beside one without probes.
    private static final double COLD_COUNTED = 140;

    private static final double COLD_EXACT = 280;
    private static final double WARM_RATE = 60_000;
    private static final double COLDER_COUNTED = 300;
    private static final double COLDER_EXACT = 600;
    private static final double COLDER_RATE = 3_000;

    /// Of a function in the account of a session.
    ///
    /// @param entered  calls that were counted
    /// @param byChance of these, calls that were timed by chance
    /// @param all      of these, calls that were timed because all were
    /// @param rate     its calls in a second of the program's CPU time, on average, seen or not
    public double of(long entered, double byChance, double all, double rate) {
        double counted = Math.max(0, entered - all);
        return counted * counted(rate) + timedByChance(byChance) + all * exact(rate);
    }

    /// What it costs besides that calls tell their callers, through the threads' rings.
    public double telling(double calls) {
        return TELLING * calls;
    }

    /// What a call of a function costs whose calls are all counted.
    ///
    /// @param rate its calls in a second of the program's CPU time
    public double counted(double rate) {
        return RecordingTicks.COUNTED + cold(COLD_COUNTED, COLDER_COUNTED, rate);
    }

    /// What a call costs that a slice counts.
    ///
    /// @param rate the function's calls in a second of the program's CPU time
    public double sliced(double rate) {
        return RecordingTicks.SLICED + cold(COLD_COUNTED, COLDER_COUNTED, rate);
    }

    /// What it costs besides to time calls by chance.
    public double timedByChance(double timed) {
        return RecordingTicks.BY_CHANCE * timed + clock(timed);
    }

    /// What a call of a function costs whose calls are all recorded.
    ///
    /// @param rate its calls in a second of the program's CPU time
    public double exact(double rate) {
        return RecordingTicks.EXACT + cold(COLD_EXACT, COLDER_EXACT, rate) + clock(1);
    }

    private static double cold(double cold, double colder, double rate) {
        return cold / (1 + square(rate / WARM_RATE)) + colder / (1 + square(rate / COLDER_RATE));
    }

    private static double square(double value) {
        return value * value;
    }

    /// How many of a row's calls were timed by chance: its function may have been exact at times.
    ///
    /// @param calls that the timed ones stand for
    /// @param most  calls that one of them stands for
    public static double byChance(long calls, long timed, int most) {
        return most <= 1 ? 0 : Math.min(timed, (double) Math.max(0, calls - timed) / (most - 1));
    }

    private double clock(double timed) {
        return cpuTime ? RecordingTicks.CPU_TIME * timed : 0;
    }
}
