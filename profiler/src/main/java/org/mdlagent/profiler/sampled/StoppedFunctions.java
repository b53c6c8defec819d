package org.mdlagent.profiler.sampled;

import java.util.HashSet;
import java.util.Set;
import org.mdlagent.profiler.tier.Tiers;

/// Decides which of the functions that a thread has stopped, because it could not afford them
/// ([org.mdlagent.profiler.tier.Allowance]), go on as before: a thread stops the function it is about to
/// call, which need not be the expensive one. The others are sliced, and so is a function that is stopped again: it
/// would be off most of the time, and its calls unknown.
final class StoppedFunctions {
    /// A function that costs less than this share of the budget goes on, as long as all such functions
    /// together cost less than the second share.
    private static final double CHEAP_PART = 0.1;

    private static final double CHEAP_PART_OF_ALL = 0.3;

    /// A function also goes on if its rate is at most this multiple of its rate at the last choice of tiers.
    private static final double RISE = 1.25;

    private final Tiers tiers;
    private final double budget;
    private final double ticksPerNano;

    /// Cost of functions that went on since tiers were last chosen, as a share of the program's time.
    private double goingOn;

    /// These functions.
    private final Set<Integer> wentOn = new HashSet<>();

    StoppedFunctions(Tiers tiers, double budget, double ticksPerNano) {
        this.tiers = tiers;
        this.budget = budget;
        this.ticksPerNano = ticksPerNano;
    }

    /// Tiers have been chosen anew; their costs include these functions.
    void forget() {
        goingOn = 0;
        wentOn.clear();
    }

    /// Functions that go on must also be cheap together.
    ///
    /// @param rate recent calls per nanosecond of CPU time
    boolean goesOn(int function, double rate) {
        double part = tiers.price(function) / ticksPerNano * Math.max(rate, tiers.rate(function));
        boolean suits = part < CHEAP_PART * budget || rate <= RISE * tiers.rate(function);
        boolean goesOn = tiers.isCounted(function)
                && suits
                && goingOn + part < CHEAP_PART_OF_ALL * budget
                && wentOn.add(function);
        goingOn += goesOn ? part : 0;
        return goesOn;
    }
}
