package org.mdlagent.profiler.slice;

import java.util.List;
import org.mdlagent.profiler.report.profile.FunctionProfile;

/// Slices of a session's time.
///
/// @param functions of the session, all of them, in the order of their discovery: slices know them by their positions
/// @param slices    in the order of time
public record Timeline(List<FunctionProfile> functions, List<TimeSlice> slices) {
    /// Where nothing is shown by time.
    public static final Timeline NONE = new Timeline(List.of(), List.of());

    public Timeline {
        functions = List.copyOf(functions);
        slices = List.copyOf(slices);
    }
}
