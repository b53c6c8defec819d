package org.mdlagent.profiler.report.statistics;

import org.mdlagent.profiler.report.profile.FunctionProfile;

/// One function in two series of runs.
///
/// @param function as named in a run after
/// @param calls    per run before, on average
/// @param callsNow per run after, on average
/// @param typical  the interquartile mean of its calls' durations, in nanoseconds
public record SeriesChange(FunctionProfile function, double calls, double callsNow, Figure typical) {
    /// A tested figure.
    ///
    /// @param slower the lowest family-wise level at which it has grown by more than the threshold
    /// @param faster the lowest family-wise level at which it has shrunk by more than the threshold
    public record Figure(SeriesTest test, double slower, double faster) {
        public boolean isSlower() {
            return slower <= SeriesComparison.LEVEL;
        }

        public boolean isFaster() {
            return faster <= SeriesComparison.LEVEL;
        }

        /// `slower`, `faster`, or `same` if no change beyond the threshold was detected.
        public String verdict() {
            return isSlower() ? "slower" : isFaster() ? "faster" : "same";
        }
    }

    public boolean isSlower() {
        return typical.isSlower();
    }

    public boolean isFaster() {
        return typical.isFaster();
    }
}
