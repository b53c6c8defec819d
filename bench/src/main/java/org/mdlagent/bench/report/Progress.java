package org.mdlagent.bench.report;

/// Shows a benchmark's progress.
public final class Progress {
    private Progress() {}

    /// @param round that begins, from 0
    public static void round(int round, int rounds) {
        System.err.printf("mdl: round %d of %d%n", round + 1, rounds);
    }

    /// @param variant that begins in this round
    public static void round(Object program, int round, int rounds, Object variant) {
        System.err.printf("mdl: %s, round %d of %d: %s%n", program, round + 1, rounds, variant);
    }
}
