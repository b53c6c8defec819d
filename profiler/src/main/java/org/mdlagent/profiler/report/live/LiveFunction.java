package org.mdlagent.profiler.report.live;

import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Latency;

/// A function's recent activity.
///
/// @param number       its index in the session
/// @param whole        its profile since the session began
/// @param rate         calls per second since the last look
/// @param rates        calls per second at earlier looks and at this one, which is the last element
/// @param totalPercent time in the function over the last looks, in percent of the time that has passed;
///     unknown if no call was timed
/// @param timed        calls timed over the last looks
/// @param latency      of these calls
public record LiveFunction(
        int number,
        FunctionProfile whole,
        double rate,
        float[] rates,
        OptionalDouble totalPercent,
        long timed,
        Latency latency) {
    /// The duration that `percentile` percent (0 to 100) of its recent calls did not exceed; empty if too few
    /// were timed.
    public OptionalLong percentileNanos(double percentile) {
        return whole.exact() ? latency.percentileNanos(percentile) : latency.percentileNanos(percentile, timed);
    }
}
