package org.mdlagent.profiler.sampled;

import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.fastinst.install.Tier;
import org.mdlagent.profiler.tier.Allowance;
import org.mdlagent.profiler.tier.Tiers;

/// Functions that a thread has stopped, which could not afford them ([Allowance]): windows or turns choose their calls
/// from then on. Some that cost little go on as before: a thread stops the one that it is about to call, not the one
/// that is dear.
final class StoppedFunctions {
    /// A function that costs less than this part of the budget is not what a thread cannot afford.
    private static final double CHEAP_PART = 0.1;

    private static final double CHEAP_PART_OF_ALL = 0.3;

    /// Nor one that is called no more than so many times as often as when its tier was chosen.
    private static final double RISE = 1.25;

    /// They are looked for so often at most, for each function that there is.
    private static final double NANOS_OF_EACH = 20e3;

    /// What was seen of a function at last counts for as much as what was known before when there were so many calls.
    private static final double CALLS_KNOWN = 64;

    private final Probes probes;
    private final Readings readings;
    private final CallEstimates estimates;
    private final Tiers tiers;
    private final OpenFunctions open;
    private final Windows windows;
    private final Turns turns;
    private final ArmList changes;
    private final double budget;
    private final double windowNanos;
    private final double ticksPerNano;

    /// When they were last looked for.
    private long lookTsc;

    /// What those cost that went on, as a part of the program's time.
    private double goingOn;

    /// @param windowNanos a time in which a function's rate can be seen
    /// @param changes     is changed
    StoppedFunctions(
            Sampling sampling, OpenFunctions open, Windows windows, Turns turns, ArmList changes, double windowNanos) {
        probes = sampling.probes();
        readings = sampling.readings();
        estimates = sampling.estimates();
        tiers = sampling.tiers();
        budget = sampling.budget();
        ticksPerNano = sampling.ticksPerNano();
        this.open = open;
        this.windows = windows;
        this.turns = turns;
        this.changes = changes;
        this.windowNanos = windowNanos;
    }

    /// Tiers have been chosen anew: what goes on is in their sum.
    void forget() {
        goingOn = 0;
    }

    /// Whether it is time to look for them.
    boolean areDue() {
        return readings.isDue(lookTsc, 0, NANOS_OF_EACH);
    }

    /// Looks for them. How often frequent ones are called is not known before their first window.
    void look() {
        lookTsc = readings.tsc();
        changes.clear();
        for (int i = 0; i < readings.functions(); i++) {
            long record = probes.function(i);
            if (estimates.isWindowed(i) || probes.isLeftOut(i) || !Allowance.isStopped(record)) {
                continue;
            }
            double stopped = open.cpuAt(Memory.getLong(record + FunctionDescriptor.DEADLINE));
            Tier before = new Tier(tiers.mean(i));
            double nanos = Math.max(windowNanos, stopped - open.cpuAtLook());
            double rate = rate(i, nanos);
            estimates.count(i, readings.calls(i), nanos);
            boolean cheap = tiers.isCounted(i) && goesOn(i, rate);
            if (tiers.isCounted(i)) {
                open.move(i, Tier.WINDOWED, false);
            }
            boolean rare = !windows.isFrequent(rate);
            windows.start(i, stopped - readings.lost(), rate, rare);
            if (rare) {
                turns.need();
                turns.add(i);
            }
            open.weigh(i);
            if (cheap) {
                open.move(i, before, false);
                changes.add(i, open.leaseTicks());
            }
        }
        changes.arm();
    }

    /// Calls for each nanosecond until it was stopped. Where that was soon, few calls tell less than what was known
    /// before.
    ///
    /// @param nanos of CPU time in which it may have been called
    private double rate(int function, double nanos) {
        double fresh = estimates.fresh(function, readings.calls(function));
        double seen = fresh / nanos;
        double before = tiers.rate(function);
        return before > 0 ? before + fresh / (fresh + CALLS_KNOWN) * (seen - before) : seen;
    }

    /// Whether one is to go on: when it was others that the thread could not afford. Those that go on must be cheap
    /// together, too.
    ///
    /// @param rate calls for each nanosecond of CPU time, of late
    private boolean goesOn(int function, double rate) {
        double part = tiers.price(function) / ticksPerNano * Math.max(rate, tiers.rate(function));
        boolean cheap = !turns.areNeeded() && part < CHEAP_PART * budget;
        boolean asChosen = rate <= RISE * tiers.rate(function);
        boolean goesOn = (cheap || asChosen) && goingOn + part < CHEAP_PART_OF_ALL * budget;
        goingOn += goesOn ? part : 0;
        return goesOn;
    }
}
