package org.mdlagent.profiler.report;

import java.util.List;
import java.util.OptionalDouble;
import java.util.function.Predicate;

/// A session's contents at one instant.
///
/// @param functions all probed functions, those never called included, in the order of their discovery
/// @param dropped   calls that were counted but not timed, for want of room
/// @param unmatched calls whose end was not seen: left by `longjmp` or by unwinding
/// @param unseenThreads threads that found no room for a block of their own: nothing is known of their calls
/// @param selfNanos time in all probed functions of the session, 0 when it is not known
public record Profile(
        SessionFacts session,
        List<FunctionProfile> functions,
        long dropped,
        long unmatched,
        long unseenThreads,
        long selfNanos) {

    public Profile {
        functions = List.copyOf(functions);
    }

    Profile(SessionFacts session, List<FunctionProfile> functions, long dropped, long unmatched, long unseenThreads) {
        this(
                session,
                functions,
                dropped,
                unmatched,
                unseenThreads,
                functions.stream().mapToLong(f -> f.selfNanos().orElse(0)).sum());
    }

    /// The same session with those functions only for which `wanted` holds.
    public Profile only(Predicate<FunctionProfile> wanted) {
        return new Profile(
                session, functions.stream().filter(wanted).toList(), dropped, unmatched, unseenThreads, selfNanos);
    }

    /// CPU time of the agent's threads, in percent of the time that the program has run.
    public OptionalDouble agentPercent() {
        long elapsed = session.elapsedNanos().orElse(0);
        return elapsed > 0 ? OptionalDouble.of(100.0 * session.agentNanos() / elapsed) : OptionalDouble.empty();
    }
}
