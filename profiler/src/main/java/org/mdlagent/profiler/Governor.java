package org.mdlagent.profiler;

/// Keeps what measuring costs below a part of the program's time, by saying how long windows rest.
///
/// A *rotation* opens the windows of every group once. After each, the governor knows what has been spent since the
/// one before: CPU time of the agent's threads, and what probes have cost the program's. It lets windows rest until
/// the next rotation, should it cost as much, stays within the budget. So a program that changes is answered by the
/// next rest already. A rest's length is random, for windows that come in step with something periodic in the program
/// would always see the same of it.
///
/// Time here is the program's: elapsed time, or the CPU time of its threads where that is more.
final class Governor {
    /// Rests vary by this part of their length to either side.
    private static final double SPREAD = 0.5;

    /// What a rotation will cost is smoothed: this part is the newest one's, and one counts for at most so many times
    /// what was expected.
    private static final double COST_WEIGHT = 0.5;

    private static final double SURPRISE = 4;

    /// Debts beyond the budget of so long a time are forgiven: what is spent once, at the start or when a library is
    /// opened, is not to keep windows closed for minutes.
    private static final double DEBT_NANOS = 3e9;

    /// Even a program that costs nothing to watch is not looked at for nothing.
    private static final double REST_NANOS_MIN = 50e6;

    private static final double REST_NANOS_MAX = 20e9;

    private final double budget;

    /// What is left to be spent before the budget counts.
    private double start;

    private double cost;

    /// What may be spent: below 0, a debt. Nothing is saved up, for a rest is never longer than it needs to be.
    private double balance;

    /// @param budget the part of the program's time that may be spent, above 0 and up to 1; 1 means no rests
    /// @param start  what may be spent at first, without rests, in nanoseconds
    Governor(double budget, double start) {
        this.budget = budget;
        this.start = start;
    }

    /// Says how long windows rest after a rotation.
    ///
    /// @param passed     the program's time since the end of the last rotation, in nanoseconds
    /// @param spent      what measuring has cost since then, in nanoseconds
    /// @param rotation   how long the rotation took, in nanoseconds of the program's time
    /// @param randomness from 0 to 1, evenly distributed
    /// @return nanoseconds of the program's time, 0 for no rest
    double rest(double passed, double spent, double rotation, double randomness) {
        if (start > 0) {
            start -= spent;
            return 0;
        }
        cost = cost == 0 ? spent : cost + COST_WEIGHT * (Math.min(spent, SURPRISE * cost) - cost);
        balance = Math.clamp(balance + budget * passed - spent, -budget * DEBT_NANOS, cost);
        double needed = (cost - balance) / budget - rotation;
        double mean = Math.clamp(needed, REST_NANOS_MIN, REST_NANOS_MAX);
        return budget >= 1 ? 0 : mean * (1 + SPREAD * (2 * randomness - 1));
    }
}
