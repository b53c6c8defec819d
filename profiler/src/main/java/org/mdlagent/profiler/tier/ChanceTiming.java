package org.mdlagent.profiler.tier;

import org.mdlagent.fastinst.Probes;
import org.mdlagent.profiler.figures.ProbeCost;

/// Timing by chance, for functions whose probes stay on and that no choice of tiers has covered yet: machine
/// code counts all of their calls and times some by chance.
public final class ChanceTiming {
    /// Maximum timed calls of a function per second, and the share of the budget for those of all functions.
    private static final double TIMED = 60;

    private static final double PART = 0.1;

    private final Probes probes;

    /// Timed calls that the budget pays for, per second of a thread.
    private final double most;

    /// @param income what measuring may cost, in ticks per second of a thread
    public ChanceTiming(Probes probes, ProbeCost cost, double income) {
        this.probes = probes;
        most = PART * income / cost.timedByChance(1);
    }

    /// Sets the sampling factor of a function whose probes stay on.
    ///
    /// @param rate calls per second, 0 if unknown
    public void open(int function, double rate) {
        int mean = ChanceMean.of(rate / Math.min(TIMED, most), 0);
        probes.timeByChance(function, mean, mean);
    }
}
