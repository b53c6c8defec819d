package org.mdlagent.profiler.report.profile;

import java.util.List;

/// What a run has measured.
///
/// @param functions those that were called
/// @param paths     by which threads came to where they spent their CPU time, where that is known
public record RunProfile(Run run, List<FunctionProfile> functions, CallTree paths) {
    public RunProfile {
        functions = List.copyOf(functions);
    }

    /// Without call paths.
    public RunProfile(Run run, List<FunctionProfile> functions) {
        this(run, functions, CallTree.NONE);
    }
}
