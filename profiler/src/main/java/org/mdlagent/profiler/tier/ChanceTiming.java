package org.mdlagent.profiler.tier;

import org.mdlagent.fastinst.Probes;
import org.mdlagent.profiler.estimate.ProbeCost;

/// Timing of functions that no choice of tiers has seen yet, while their probes stay on: machine code counts all
/// of their calls and times one of some, by chance.
public final class ChanceTiming {
    /// Of a function so many calls are timed in a second at most, and of all of them what this part of the
    /// budget pays for.
    private static final double TIMED = 60;

    private static final double PART = 0.1;

    private final Probes probes;

    /// Timed calls that the budget pays for in a second of a thread.
    private final double most;

    /// @param income what may be spent on measuring, in ticks for each second of a thread
    public ChanceTiming(Probes probes, ProbeCost cost, double income) {
        this.probes = probes;
        most = PART * income / cost.timedByChance(1);
    }

    /// The function's probes stay on.
    ///
    /// @param rate calls a second, 0 when that is not known
    public void open(int function, double rate) {
        int mean = ChanceMean.of(rate / Math.min(TIMED, most), 0);
        probes.timeByChance(function, mean, mean);
    }
}
