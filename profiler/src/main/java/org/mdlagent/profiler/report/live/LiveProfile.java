package org.mdlagent.profiler.report.live;

import java.util.List;
import java.util.OptionalDouble;
import org.mdlagent.profiler.report.profile.Profile;

/// What a program has done lately.
///
/// @param whole        the session since its begin
/// @param functions    in the order of their discovery
/// @param threads      that live, the newest first
/// @param probePercent what probes have cost the program's threads since the last look, in percent of the time that has
///     passed, or of the program's CPU time where that is more
/// @param agentPercent CPU time of the agent's threads, the same way
public record LiveProfile(
        Profile whole,
        List<LiveFunction> functions,
        List<LiveThread> threads,
        OptionalDouble probePercent,
        OptionalDouble agentPercent) {
    public LiveProfile {
        functions = List.copyOf(functions);
        threads = List.copyOf(threads);
    }
}
