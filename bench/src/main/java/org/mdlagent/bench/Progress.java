package org.mdlagent.bench;

/// Says how far a benchmark is.
final class Progress {
    private Progress() {}

    /// @param round that begins, from 0
    static void round(int round, int rounds) {
        System.err.printf("mdl: round %d of %d%n", round + 1, rounds);
    }
}
