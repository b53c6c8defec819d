package org.mdlagent.profiler.sampled;

/// Keeps what measuring costs below a part of the program's time, by saying how long windows rest.
///
/// A *rotation* opens the windows of every group once. After each, the governor knows what it has cost, and what has
/// been spent since the one before: CPU time of the agent's threads, and what probes have cost the program's. It lets
/// windows rest until the next rotation, should it cost as much, stays within the budget. So a program that changes is
/// answered by the next rest already. A rest's length is random, for windows that come in step with something periodic
/// in the program would always see the same of it.
///
/// What is spent besides, by the agent's compiler for instance, is a debt. It is repaid by and by, by longer rests:
/// were it repaid at once, nothing would be seen meanwhile.
///
/// In a program's first second rests are short, and what is spent is not held against later ones: the virtual machine
/// is still starting, and compiles what measures. Were there none before all of that is repaid, programs of some
/// seconds would be seen by luck alone.
///
/// Time here is the program's: elapsed time, or the CPU time of its threads where that is more.
final class Governor {
    /// Rests vary by this part of their length to either side.
    private static final double SPREAD = 0.5;

    /// What a rotation will cost is smoothed: this part is the newest one's, and one counts for at most so many times
    /// what was expected.
    private static final double COST_WEIGHT = 0.5;

    private static final double SURPRISE = 4;

    /// In so long a time a debt would be repaid at the speed at which it is repaid now. Debts beyond the budget of that
    /// time are forgiven.
    private static final double REPAYMENT_NANOS = 5e9;

    /// Rotations get this part of the budget at least, whatever the debt.
    private static final double PART_MIN = 0.25;

    /// Whatever was expected of it, a rotation costs no more than so many times the budget of the rest behind it.
    private static final double EXCESS = 2;

    /// So long, until the first slice of time has been written, too, rests are this part of the program's age: a
    /// program that is short is seen from its begin to its end.
    private static final double START_NANOS = 1.25e9;

    private static final double START_PART = 0.25;

    /// Even a program that costs nothing to watch is not looked at for nothing.
    private static final double REST_NANOS_MIN = 50e6;

    private static final double REST_NANOS_MAX = 20e9;

    private final double budget;

    private double cost;

    /// What may be spent besides the budget: below 0, a debt. Nothing is saved up, for a rest is never longer than it
    /// needs to be.
    private double balance;

    /// The program's time since the first rotation.
    private double age;

    /// @param budget the part of the program's time that may be spent, above 0 and up to 1; 1 means no rests
    Governor(double budget) {
        this.budget = budget;
    }

    /// Says how long windows rest after a rotation.
    ///
    /// @param passed       the program's time since the end of the last rotation, in nanoseconds
    /// @param spent        what measuring has cost since then, in nanoseconds
    /// @param rotation     how long the rotation took, in nanoseconds of the program's time
    /// @param rotationCost the part of `spent` that was spent in it
    /// @param randomness   from 0 to 1, evenly distributed
    /// @return nanoseconds of the program's time, 0 for no rest
    double rest(double passed, double spent, double rotation, double rotationCost, double randomness) {
        age += passed;
        double smoothed = cost + COST_WEIGHT * (Math.min(rotationCost, SURPRISE * cost) - cost);
        cost = cost == 0 || age < START_NANOS ? rotationCost : smoothed;
        double mean;
        if (age < START_NANOS) {
            mean = Math.max(0, START_PART * age - rotation);
        } else {
            balance = Math.clamp(balance + budget * passed - spent, -budget * REPAYMENT_NANOS, cost);
            double income = Math.max(PART_MIN * budget, budget + balance / REPAYMENT_NANOS);
            // The newest one's where that is less: compilers run beside a rotation now and then. Where it is more,
            // others like it may follow.
            double needed = Math.max(Math.min(cost, rotationCost) / income, rotationCost / (EXCESS * budget));
            mean = Math.clamp(needed - rotation, REST_NANOS_MIN, REST_NANOS_MAX);
        }
        return budget >= 1 ? 0 : mean * (1 + SPREAD * (2 * randomness - 1));
    }
}
