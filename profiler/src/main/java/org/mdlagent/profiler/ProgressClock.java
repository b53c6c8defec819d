package org.mdlagent.profiler;

/// A clock of the program's progress: its CPU time, less what sampling windows cost it.
///
/// While windows are open the program is slower: probes take time, and so does fetching code that was just changed.
/// The cost of probes is predicted from the calls. What is left is seen in the functions whose probes are always on:
/// the same work makes them be called as often, so the ratio of their calls for each nanosecond outside of windows to
/// that inside is a factor, learned over some seconds, and taken as 1 while they are called too rarely to tell.
final class ProgressClock {
    /// Windows of both kinds are open; of the long kind only; none.
    static final int ALL_OPEN = 0;

    static final int LONG_OPEN = 1;
    static final int NONE_OPEN = 2;

    static final int PHASES = 3;

    /// What is learned halves every 700 rounds, 3.5 s by default.
    private static final double MEMORY = 0.999;

    private static final double CALLS_MIN = 500;
    private static final double SLOWDOWN_MAX = 2;

    private final double[] calls = new double[PHASES];
    private final double[] nanos = new double[PHASES];
    private final double[] passedNanos = new double[PHASES];
    private double now;
    private double lastCpu;

    /// @param cpu CPU time of the program so far, in nanoseconds
    ProgressClock(long cpu) {
        lastCpu = cpu;
    }

    /// Ends a phase.
    ///
    /// @param cpu        CPU time of the program so far, in nanoseconds
    /// @param probeNanos what the probes of windows have cost in the phase, as predicted
    void endPhase(int phase, long cpu, double probeNanos) {
        double spent = Math.max(0, cpu - lastCpu);
        double passed = Math.max(spent / SLOWDOWN_MAX, spent - probeNanos);
        passedNanos[phase] += passed;
        now += passed / slowdown(phase);
        lastCpu = cpu;
    }

    /// Ends a round of all phases.
    ///
    /// @param openCalls by phase: calls, in this round, of the functions whose probes were on all the time
    void learn(long[] openCalls) {
        for (int phase = 0; phase < PHASES; phase++) {
            calls[phase] = MEMORY * calls[phase] + openCalls[phase];
            nanos[phase] = MEMORY * nanos[phase] + passedNanos[phase];
            passedNanos[phase] = 0;
        }
    }

    /// Nanoseconds that the program would have taken without windows.
    double now() {
        return now;
    }

    private double slowdown(int phase) {
        if (calls[phase] < CALLS_MIN || calls[NONE_OPEN] < CALLS_MIN) {
            return 1;
        }
        double outside = calls[NONE_OPEN] / nanos[NONE_OPEN];
        double inside = calls[phase] / nanos[phase];
        return Math.clamp(outside / inside, 1, SLOWDOWN_MAX);
    }
}
