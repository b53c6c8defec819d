package org.mdlagent.profiler.policy;

/// Functions whose probes are on in equal slices of time.
///
/// @param functions   their numbers
/// @param step        how many of them are on in one slice; the next slice has the next ones
/// @param timed       whether calls are timed, or only counted
/// @param periodNanos time from one slice to the next
/// @param lengthNanos of a slice
public record Slicing(int[] functions, int step, boolean timed, double periodNanos, double lengthNanos) {
    static Slicing none(boolean timed) {
        return new Slicing(new int[0], 0, timed, 0, 0);
    }
}
