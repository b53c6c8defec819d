package org.mdlagent.calibrator;

/// T_max of what was observed.
///
/// It is made of the maximum and not of a high percentile: a thread that fetches late once in a thousand toggles is a
/// crash a thousand times a second.
///
/// Two calibrations differ by chance, for which the spread among the rounds of one stands, and the step from one wait
/// to the next; and by what else the machine does, for which a step of the rounding to either side stands.
///
/// @param ticks     T_max
/// @param lowTicks  another calibration of the same length is expected to give no T_max below this
/// @param highTicks and none above this
record Tmax(long ticks, long lowTicks, long highTicks) {
    /// The product patches a thousand times as often as a calibration, and on machines that are busy otherwise.
    /// Where the latencies' tail is exponential, a thousand times as many samples lengthen the maximum of a million
    /// by half. What remains of the factor is for load that did not show.
    static final int FACTOR = 4;

    /// About a microsecond, which costs a patcher little. A shorter wait would rest on the maximum alone.
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

    /// To 2^n or 3 * 2^n, so that small differences between two calibrations do not show.
    static long roundedUp(long ticks) {
        long power = Long.highestOneBit(Math.max(1, ticks - 1)) << 1;
        return ticks <= power / 4 * 3 ? power / 4 * 3 : power;
    }

    private static long stepBelow(long rounded) {
        return Long.bitCount(rounded) == 1 ? rounded / 4 * 3 : rounded / 3 * 2;
    }
}
