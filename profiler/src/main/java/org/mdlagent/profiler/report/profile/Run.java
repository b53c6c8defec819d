package org.mdlagent.profiler.report.profile;

import java.time.Instant;
import java.util.Map;
import java.util.OptionalLong;

/// What identifies a session among others.
///
/// @param id           NAME-PID-TIME
/// @param program      path of the executable
/// @param elapsedNanos from its start to its end
/// @param measuredNanos of that, time in which probes were in place
/// @param exact        whether every call was recorded, rather than a sample
/// @param cpuTime      whether durations are CPU time, rather than elapsed time
/// @param builds       hexadecimal build ids of images with probes that have one, by path
public record Run(
        String id,
        String program,
        Instant started,
        OptionalLong elapsedNanos,
        OptionalLong measuredNanos,
        boolean exact,
        boolean cpuTime,
        Map<String, String> builds) {
    /// Stands for the build id of an image that has none.
    public static final String NO_BUILD = "-";

    /// Digits of a build id shown to people.
    private static final int SHORT_BUILD = 12;

    /// The identity of a session, without its functions.
    public static Run of(SessionFacts session) {
        return of(session, Map.of());
    }

    public static Run of(SessionFacts session, Map<String, String> builds) {
        return new Run(
                session.id(),
                session.program(),
                session.started(),
                session.elapsedNanos(),
                session.measuredNanos(),
                session.exact(),
                session.cpuTime(),
                builds);
    }

    public Run {
        builds = Map.copyOf(builds);
    }

    /// How calls were recorded and what their durations measure, for people.
    public String mode() {
        return (exact ? "exact" : "sampled") + (cpuTime ? ", CPU time" : "");
    }

    /// The build id of an image, or [#NO_BUILD].
    public String build(String image) {
        return builds.getOrDefault(image, NO_BUILD);
    }

    /// The first digits of a build id.
    public static String shortBuild(String build) {
        return build.substring(0, Math.min(SHORT_BUILD, build.length()));
    }
}
