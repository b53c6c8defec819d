package org.mdlagent.profiler.report.profile;

import java.time.Instant;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/// What a session says of itself.
///
/// @param id           NAME-PID-TIME
/// @param program      path of the executable
/// @param start        tells the process from others that have its id
/// @param ended        null while the program runs, or when nobody saw its end
/// @param exitStatus   of a program that exited, when known
/// @param exitSignal   that killed the program: 0 for none, absent while the end is not known
/// @param elapsedNanos from the start to the end, or to the last sign of life
/// @param exact        whether every call is recorded, and not a sample
/// @param threads      of the program, those that ended included
/// @param samples      calls that have told their callers, in a sampled session
/// @param agentNanos   CPU time of the agent's threads
/// @param programNanos CPU time of the program's threads, 0 when nobody has asked for it
/// @param budgetPercent of the program's time that a sampled profile may cost
/// @param armed        whether probes were in place at any time
/// @param armedAfterNanos from the start until they were, when that is known
/// @param fromMain     whether main has waited for them, so that none of its calls was missed
/// @param waited       how long the program's threads have waited for processors, for each nanosecond of their CPU
///     time; 0 while it is not known
/// @param cpuTime      whether durations are CPU time of the calling threads, and not time that has passed
public record SessionFacts(
        String id,
        String program,
        int pid,
        ProcessStart start,
        Instant started,
        @Nullable Instant ended,
        OptionalInt exitStatus,
        OptionalInt exitSignal,
        OptionalLong elapsedNanos,
        OptionalDouble tscHz,
        State state,
        Sync sync,
        boolean exact,
        int threads,
        long agentNanos,
        long toggles,
        long samples,
        long programNanos,
        OptionalDouble budgetPercent,
        boolean armed,
        OptionalLong armedAfterNanos,
        boolean fromMain,
        double waited,
        boolean cpuTime) {

    /// CPU time of the program's threads, the time from start to end where that is not known; above 0.
    public double cpuSeconds() {
        return Math.max(1, programNanos > 0 ? programNanos : elapsedNanos.orElse(0)) / 1e9;
    }

    /// When a process began, as no setting of a clock changes it.
    ///
    /// @param boot  of which boot of the machine, its id
    /// @param ticks of the kernel since then
    public record ProcessStart(String boot, long ticks) {}

    /// The same session in a range of time, of which the samples are not known.
    public SessionFacts during(long elapsedNanos, long agentNanos, long programNanos) {
        return new SessionFacts(
                id,
                program,
                pid,
                start,
                started,
                ended,
                exitStatus,
                exitSignal,
                OptionalLong.of(elapsedNanos),
                tscHz,
                state,
                sync,
                exact,
                threads,
                agentNanos,
                toggles,
                0,
                programNanos,
                budgetPercent,
                armed,
                OptionalLong.of(0),
                fromMain,
                waited,
                cpuTime);
    }

    /// The time in which probes were in place: what rates and percentages are of. All of it where it is not known
    /// since when.
    public OptionalLong measuredNanos() {
        return elapsedNanos.isEmpty()
                ? OptionalLong.empty()
                : OptionalLong.of(Math.max(0, elapsedNanos.getAsLong() - armedAfterNanos.orElse(0)));
    }

    /// For how long the program ran before probes were in place: calls of that time are in no figure.
    public OptionalLong unseenNanos() {
        return fromMain ? OptionalLong.of(0) : armedAfterNanos;
    }

    /// Nanoseconds in a unit of recorded durations; empty when that is not known.
    public OptionalDouble nanosPerUnit() {
        if (cpuTime) {
            return OptionalDouble.of(1);
        }
        return tscHz.isPresent() ? OptionalDouble.of(1e9 / tscHz.getAsDouble()) : OptionalDouble.empty();
    }

    /// How far the agent came.
    public enum State {
        STARTING,
        ARMED,
        ENDED,
        AGENT_DEAD
    }

    /// How the agent waits until every core sees new code.
    public enum Sync {
        NONE,
        TMAX,
        MEMBARRIER
    }
}
