package org.mdlagent.profiler.report.profile;

import java.util.List;

/// The measurements of a run.
///
/// @param functions those that were called
/// @param paths     call paths of the CPU time, if known
public record RunProfile(Run run, List<FunctionProfile> functions, CallTree paths) {
    public RunProfile {
        functions = List.copyOf(functions);
    }

    /// Without call paths.
    public RunProfile(Run run, List<FunctionProfile> functions) {
        this(run, functions, CallTree.NONE);
    }
}
