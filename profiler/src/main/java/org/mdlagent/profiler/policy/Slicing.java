package org.mdlagent.profiler.policy;

/// Functions whose probes are on in slices of time, all alike.
///
/// @param functions   their numbers
/// @param step        how many of them are on in a slice; the next ones in the next
/// @param timed       whether calls are timed, or only counted
/// @param periodNanos there is one slice in each
/// @param lengthNanos of a slice
public record Slicing(int[] functions, int step, boolean timed, double periodNanos, double lengthNanos) {
    static Slicing none(boolean timed) {
        return new Slicing(new int[0], 0, timed, 0, 0);
    }

    /// The part of the time that a function of it is on.
    public double duty() {
        return functions.length == 0 ? 0 : lengthNanos / periodNanos * step / functions.length;
    }
}
