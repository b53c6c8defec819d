package org.mdlagent.profiler.policy;

/// Decides how long until the profiler's next look at what was recorded. A look takes CPU time of the agent, so the
/// budget limits how often there is one.
///
/// When a program ends, its calls since the last look are extrapolated. So looks are frequent at first, and never rarer
/// than [#AGE_PART] of the program's age.
public final class LookInterval {
    /// From the first probes to the first look. The interval doubles after each look, up to the usual one.
    static final double FIRST_NANOS = 10e6;

    /// The usual interval, and the longest. Probes that stay on switch themselves off after five seconds without a
    /// look.
    public static final double USUAL_NANOS = 200e6;

    static final double LONGEST_NANOS = 1e9;

    static final double AGE_PART = 0.02;

    /// Share of the budget for looks, and the share of elapsed time that they may take at any time.
    static final double PART = 0.1;

    static final double EARLY_PART = 0.1;

    /// Weight of the newest look in the smoothed CPU time per look.
    private static final double WEIGHT = 0.2;

    private double rising = FIRST_NANOS;
    private double cost;

    /// There are new probes.
    public void restart() {
        rising = FIRST_NANOS;
    }

    /// @param spent  CPU time of the look that has ended, in nanoseconds
    /// @param age    nanoseconds since the first probes
    /// @param income CPU time that measuring may take, per nanosecond of elapsed time
    /// @return nanoseconds until the next look
    public double after(double spent, double age, double income) {
        cost += (cost == 0 ? 1 : WEIGHT) * (spent - cost);
        double least = Math.max(rising, cost / EARLY_PART);
        if (rising < USUAL_NANOS) {
            rising = Math.min(2 * rising, USUAL_NANOS);
            return least;
        }
        double most = Math.clamp(age * AGE_PART, USUAL_NANOS, LONGEST_NANOS);
        return Math.max(least, Math.min(most, cost / (PART * income)));
    }
}
