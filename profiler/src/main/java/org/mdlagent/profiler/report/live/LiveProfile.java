package org.mdlagent.profiler.report.live;

import java.util.List;
import java.util.OptionalDouble;
import org.mdlagent.profiler.report.profile.Profile;

/// A program's recent activity.
///
/// @param whole        the session since it began
/// @param functions    in the order of their discovery
/// @param threads      live threads, newest first
/// @param probePercent what probes have cost the program's threads since the last look, in percent of the
///     time that has passed, or of the program's CPU time if that is more
/// @param agentPercent CPU time of the agent's threads, relative to the same time
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
