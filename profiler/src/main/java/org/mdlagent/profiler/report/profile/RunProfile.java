package org.mdlagent.profiler.report.profile;

import java.util.List;

/// What a run has measured.
///
/// @param functions those that were called
public record RunProfile(Run run, List<FunctionProfile> functions) {
    public RunProfile {
        functions = List.copyOf(functions);
    }
}
