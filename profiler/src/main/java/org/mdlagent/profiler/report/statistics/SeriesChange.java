package org.mdlagent.profiler.report.statistics;

import org.mdlagent.profiler.report.profile.FunctionProfile;

/// What two series of runs say of one function.
///
/// @param function as a run after names it
/// @param calls    of a run before, on average
/// @param callsNow of a run after, on average
/// @param typical  the interquartile mean of its calls' durations, in nanoseconds
public record SeriesChange(FunctionProfile function, double calls, double callsNow, Figure typical) {
    /// A figure that was tested.
    ///
    /// @param slower the least level of all tests together at which it has grown by more than the threshold
    /// @param faster the same of having shrunk
    public record Figure(SeriesTest test, double slower, double faster) {
        public boolean isSlower() {
            return slower <= SeriesComparison.LEVEL;
        }

        public boolean isFaster() {
            return faster <= SeriesComparison.LEVEL;
        }

        /// `slower`, `faster`, or `same` where such runs do not show a change beyond the threshold.
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
