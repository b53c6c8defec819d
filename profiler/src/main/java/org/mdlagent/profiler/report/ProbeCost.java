package org.mdlagent.profiler.report;

/// What probes cost the program, observed: the calls that recording code has counted anyway, times what it was
/// measured to add to a call of an empty function ("Performance Measurement Tools and MDL", 1997, calls the sum
/// obsCost). In ticks of the time-stamp counter; a call into memory that is not in a cache costs more.
final class ProbeCost {
    private static final double COUNTED = 6;
    private static final double TIMED = 50;
    private static final double EXACT = 58;

    private ProbeCost() {}

    /// @param counted calls that were counted
    /// @param timed   of these, calls of which a record was written; in exact sessions all that returned
    static double ticks(boolean exact, long counted, long timed) {
        return exact ? EXACT * timed : COUNTED * counted + TIMED * timed;
    }
}
