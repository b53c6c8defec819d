package org.mdlagent.calibrator;

/// Computes T_max from observations.
///
/// It is based on the maximum, not on a high percentile: one late fetch in a thousand toggles is a thousand
/// crashes per second.
///
/// Two calibrations differ by chance, estimated by the spread among rounds and the step between waits; and by
/// other load, estimated by one rounding step to either side.
///
/// @param ticks     T_max
/// @param lowTicks  another calibration of the same length is expected to give no T_max below this
/// @param highTicks and none above this
record Tmax(long ticks, long lowTicks, long highTicks) {
    /// The agent patches a thousand times as often as a calibration, and on busy machines. With an exponential
    /// tail, a thousand times as many samples raise the maximum of a million by half. The rest of the factor
    /// covers load absent from the calibration.
    static final int FACTOR = 4;

    /// About a microsecond, which costs a patcher little. A shorter wait would rely on the maximum alone.
    static final long FLOOR_TICKS = 3000;

    static Tmax of(VisibilityLatency latency, CrashTest crashes) {
        long failing = crashes.failingWait();
        long ticks = ticks(Math.max(failing, latency.max()));
        return new Tmax(
                ticks,
                Math.max(
                        FLOOR_TICKS,
                        Math.min(stepBelow(ticks), ticks(Math.max(failing / 2, latency.repeatedMaxLow())))),
                Math.max(roundedUp(ticks + 1), ticks(Math.max(2 * failing, latency.repeatedMaxHigh()))));
    }

    private static long ticks(long observed) {
        return Math.max(FLOOR_TICKS, roundedUp(FACTOR * observed));
    }

    /// Rounds to 2^n or 3 * 2^n, to hide small differences between calibrations.
    static long roundedUp(long ticks) {
        long power = Long.highestOneBit(Math.max(1, ticks - 1)) << 1;
        return ticks <= power / 4 * 3 ? power / 4 * 3 : power;
    }

    private static long stepBelow(long rounded) {
        return Long.bitCount(rounded) == 1 ? rounded / 4 * 3 : rounded / 3 * 2;
    }
}
