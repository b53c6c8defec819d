package org.mdlagent.profiler.report.slice;

import java.util.List;
import org.mdlagent.profiler.report.profile.FunctionProfile;

/// A sequence of a session's time slices.
///
/// @param functions all functions of the session, in the order of their discovery: slices refer to them by
///     position
/// @param slices    in the order of time
public record Timeline(List<FunctionProfile> functions, List<TimeSlice> slices) {
    /// For reports without a time axis.
    public static final Timeline NONE = new Timeline(List.of(), List.of());

    public Timeline {
        functions = List.copyOf(functions);
        slices = List.copyOf(slices);
    }
}
