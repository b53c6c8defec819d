package org.mdlagent.profiler.report.profile;

import java.time.Instant;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.Collected;
import org.mdlagent.profiler.report.file.BaseName;

/// A session's own data: the program, its process and how it was measured.
///
/// @param id           NAME-PID-TIME
/// @param program      path of the executable
/// @param start        distinguishes the process from others with the same id
/// @param ended        null while the program runs, or when its end was not seen
/// @param exitStatus   of a program that exited, when known
/// @param exitSignal   that killed the program: 0 for none, absent while the end is unknown
/// @param elapsedNanos from the start to the end, or to the last sign of life
/// @param exact        whether every call is recorded, rather than a sample
/// @param threads      of the program, ended ones included
/// @param samples      calls that reported their callers, in a sampled session
/// @param agentNanos   CPU time of the agent's threads
/// @param programNanos CPU time of the program's threads, 0 when not requested
/// @param budgetPercent of the program's time that a sampled profile may cost
/// @param armed        whether probes were in place at any time
/// @param armedAfterNanos from the start until they were, when known
/// @param fromMain     whether main waited for the probes, so that none of its calls was missed
/// @param waited       time the program's threads have waited for processors, per nanosecond of their CPU
///     time; 0 while unknown
/// @param cpuTime      whether durations are CPU time of the calling threads, rather than elapsed time
/// @param collected    what the session holds of its functions
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
        boolean cpuTime,
        Collected collected) {

    /// What is recorded, in a word: `exact` or `sampled` latency, `counts` or `coverage`.
    public String mode() {
        return !collected.isTimed() ? collected.key() : exact ? "exact" : "sampled";
    }

    /// What was executed: `redis-server` though that is a link to `redis-check-rdb`.
    public String name() {
        return BaseName.of(program);
    }

    /// CPU time of the program's threads, or the time from start to end if that is unknown; above 0.
    public double cpuSeconds() {
        return Math.max(1, programNanos > 0 ? programNanos : elapsedNanos.orElse(0)) / 1e9;
    }

    /// The start of a process, independent of changes to the system clock.
    ///
    /// @param boot  boot id of the machine
    /// @param ticks clock ticks since boot
    public record ProcessStart(String boot, long ticks) {}

    /// The same session in a range of time, without samples.
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
                cpuTime,
                collected);
    }

    /// The time in which probes were in place, the basis of rates and percentages; the whole time if it is
    /// unknown when they were put in place.
    public OptionalLong measuredNanos() {
        return elapsedNanos.isEmpty()
                ? OptionalLong.empty()
                : OptionalLong.of(Math.max(0, elapsedNanos.getAsLong() - armedAfterNanos.orElse(0)));
    }

    /// How long the program ran before probes were in place: calls of that time are in no figure.
    public OptionalLong unseenNanos() {
        return fromMain ? OptionalLong.of(0) : armedAfterNanos;
    }

    /// Nanoseconds per unit of recorded durations; empty if unknown.
    public OptionalDouble nanosPerUnit() {
        if (cpuTime) {
            return OptionalDouble.of(1);
        }
        return tscHz.isPresent() ? OptionalDouble.of(1e9 / tscHz.getAsDouble()) : OptionalDouble.empty();
    }

    /// The agent's progress.
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
