package org.mdlagent.profiler.report.live;

import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Latency;

/// What a function has done lately.
///
/// @param number       its index in the session
/// @param whole        what the session knows of it since its begin
/// @param rate         calls for each second, since the last look
/// @param rates        the same at the looks before and at this one, which is the last
/// @param totalPercent time in it, in percent of the time that has passed, over the last looks; unknown when no call
///     was timed
/// @param timed        calls that were timed over the last looks
/// @param latency      of these
public record LiveFunction(
        int number,
        FunctionProfile whole,
        double rate,
        float[] rates,
        OptionalDouble totalPercent,
        long timed,
        Latency latency) {
    /// The duration that `percentile` percent (0 to 100) of its calls lately did not exceed; empty where too few were
    /// timed.
    public OptionalLong percentileNanos(double percentile) {
        return whole.exact() ? latency.percentileNanos(percentile) : latency.percentileNanos(percentile, timed);
    }
}
