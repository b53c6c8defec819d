package org.mdlagent.profiler.report.statistics;

/// By how much a duration may have grown.
///
/// @param factor what it is multiplied with
/// @param nanos  what is added then
record Margin(double factor, double nanos) {
    static final Margin NONE = new Margin(1, 0);

    /// What a probe adds to a call differs by so much from one run to the next: where the stub lies, and what the
    /// caches hold, and a tick of the clock at either end.
    static final double PROBE_NANOS = 10;

    static Margin ofPercent(double percent) {
        return new Margin(1 + percent / 100, PROBE_NANOS);
    }

    double widen(double duration) {
        return factor * duration + nanos;
    }
}
