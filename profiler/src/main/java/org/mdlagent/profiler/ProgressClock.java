package org.mdlagent.profiler;

/// A clock of the program's progress: its CPU time, less what sampling windows have cost it.
final class ProgressClock {
    /// However wrong the predicted cost is, this part of the CPU time was progress.
    private static final double PROGRESS_MIN = 0.05;

    private double now;
    private double cpu;

    /// @param cpu CPU time of the program so far, in nanoseconds
    ProgressClock(double cpu) {
        this.cpu = cpu;
    }

    /// @param cpuNow     CPU time of the program so far, in nanoseconds
    /// @param probeNanos what windows have cost since the last call, as predicted
    void advance(double cpuNow, double probeNanos) {
        double spent = Math.max(0, cpuNow - cpu);
        now += Math.max(PROGRESS_MIN * spent, spent - probeNanos);
        cpu = cpuNow;
    }

    /// CPU time of the program at the last call of [#advance], in nanoseconds.
    double cpu() {
        return cpu;
    }

    /// Nanoseconds that the program would have taken without windows.
    double now() {
        return now;
    }
}
