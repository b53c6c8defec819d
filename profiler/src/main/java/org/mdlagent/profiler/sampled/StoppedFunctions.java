package org.mdlagent.profiler.sampled;

import org.mdlagent.profiler.tier.Tiers;

/// Which of the functions that a thread has stopped, because it could not afford them
/// ([org.mdlagent.profiler.tier.Allowance]), go on as before: a thread stops the function that it is about to
/// call, not the one that is dear. The others are sliced.
final class StoppedFunctions {
    /// A function that costs less than this part of the budget is not what a thread cannot afford; nor are those
    /// that cost less than the other part, all together.
    private static final double CHEAP_PART = 0.1;

    private static final double CHEAP_PART_OF_ALL = 0.3;

    /// Nor is one that is called no more than so many times as often as when its tier was chosen.
    private static final double RISE = 1.25;

    private final Tiers tiers;
    private final double budget;
    private final double ticksPerNano;

    /// What those cost that went on since tiers were chosen, as a part of the program's time.
    private double goingOn;

    StoppedFunctions(Tiers tiers, double budget, double ticksPerNano) {
        this.tiers = tiers;
        this.budget = budget;
        this.ticksPerNano = ticksPerNano;
    }

    /// Tiers have been chosen anew: what goes on is in their sum.
    void forget() {
        goingOn = 0;
    }

    /// Those that go on must be cheap together, too.
    ///
    /// @param rate calls for each nanosecond of CPU time, of late
    boolean goesOn(int function, double rate) {
        double part = tiers.price(function) / ticksPerNano * Math.max(rate, tiers.rate(function));
        boolean suits = part < CHEAP_PART * budget || rate <= RISE * tiers.rate(function);
        boolean goesOn = tiers.isCounted(function) && suits && goingOn + part < CHEAP_PART_OF_ALL * budget;
        goingOn += goesOn ? part : 0;
        return goesOn;
    }
}
