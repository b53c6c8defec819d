package org.mdlagent.profiler.figures;

import org.mdlagent.arch.site.RecordingTicks;

/// The observed cost of probes: counted calls times the measured cost of a call of an empty function
/// ("Performance Measurement Tools and MDL", 1997, calls the sum obsCost), plus cache effects. In ticks of
/// the time-stamp counter.
///
/// @param cpuTime whether durations are the threads' CPU time
public record ProbeCost(boolean cpuTime) {
    /// Extra cost of a call that reports its caller: the ring and the shim's code for it are not in any
    /// cache.
    private static final double TELLING = 1000;

    /// Extra cost of a call when its stub, site and rows have left a cache since the last call, and the call
    /// rate per second of CPU time at which half of them are still cached. Other work fills the first-level
    /// cache within some ten microseconds, the second-level cache within a fraction of a millisecond. Fitted
    /// to the CPU time of a sqlite3 that answers queries, with and without probes.
    private static final double COLD_COUNTED = 140;

    private static final double COLD_EXACT = 280;
    private static final double WARM_RATE = 60_000;
    private static final double COLDER_COUNTED = 300;
    private static final double COLDER_EXACT = 600;
    private static final double COLDER_RATE = 3_000;

    /// The cost of a function over a session.
    ///
    /// @param entered  calls counted
    /// @param byChance of these, calls timed by chance
    /// @param all      of these, calls timed while every call was timed
    /// @param rate     average calls per second of the program's CPU time, seen or not
    public double of(long entered, double byChance, double all, double rate) {
        double counted = Math.max(0, entered - all);
        return counted * counted(rate) + timedByChance(byChance) + all * exact(rate);
    }

    /// Extra cost of calls that report their callers through the threads' rings.
    public double telling(double calls) {
        return TELLING * calls;
    }

    /// The cost of one call of a function whose calls are all counted.
    ///
    /// @param rate its calls per second of the program's CPU time
    public double counted(double rate) {
        return RecordingTicks.COUNTED + cold(COLD_COUNTED, COLDER_COUNTED, rate);
    }

    /// The cost of one call counted in a slice.
    ///
    /// @param rate the function's calls per second of the program's CPU time
    public double sliced(double rate) {
        return RecordingTicks.SLICED + cold(COLD_COUNTED, COLDER_COUNTED, rate);
    }

    /// Extra cost of timing calls by chance.
    public double timedByChance(double timed) {
        return RecordingTicks.BY_CHANCE * timed + clock(timed);
    }

    /// The cost of one call of a function whose calls are all recorded.
    ///
    /// @param rate its calls per second of the program's CPU time
    public double exact(double rate) {
        return RecordingTicks.EXACT + cold(COLD_EXACT, COLDER_EXACT, rate) + clock(1);
    }

    private static double cold(double cold, double colder, double rate) {
        return cold / (1 + square(rate / WARM_RATE)) + colder / (1 + square(rate / COLDER_RATE));
    }

    private static double square(double value) {
        return value * value;
    }

    /// The number of a row's calls that were timed by chance; its function may have been exact at times.
    ///
    /// @param calls that the timed calls stand for
    /// @param most  calls that one timed call stands for
    public static double byChance(long calls, long timed, int most) {
        return most <= 1 ? 0 : Math.min(timed, (double) Math.max(0, calls - timed) / (most - 1));
    }

    private double clock(double timed) {
        return cpuTime ? RecordingTicks.CPU_TIME * timed : 0;
    }
}
