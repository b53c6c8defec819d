package org.mdlagent.profiler.report.profile;

import java.util.List;

/// What a run has measured.
///
/// @param functions those that were called
/// @param edges     who called them, where that is known
public record RunProfile(Run run, List<FunctionProfile> functions, List<CallEdge> edges) {
    public RunProfile {
        functions = List.copyOf(functions);
        edges = List.copyOf(edges);
    }

    /// Without callers.
    public RunProfile(Run run, List<FunctionProfile> functions) {
        this(run, functions, List.of());
    }
}
