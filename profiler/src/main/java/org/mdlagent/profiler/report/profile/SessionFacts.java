package org.mdlagent.profiler.report.profile;

import java.time.Instant;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.figures.Collected;
import org.mdlagent.profiler.text.BaseName;

/// A session's own data: the program, its process and how it was measured.
///
/// @param id           NAME-PID-TIME
/// @param elapsedNanos from the start to the end, or to the last sign of life
/// @param tscHz        frequency of the time-stamp counter
public record SessionFacts(
        String id,
        MeasuredProcess process,
        State state,
        Method method,
        Probes probes,
        Costs costs,
        OptionalLong elapsedNanos,
        OptionalDouble tscHz) {

    /// The process that was measured.
    ///
    /// @param program    path of the executable
    /// @param start      distinguishes the process from others with the same id
    /// @param ended      null while the program runs, or when its end was not seen
    /// @param exitStatus of a program that exited, when known
    /// @param exitSignal that killed the program: 0 for none, absent while the end is unknown
    /// @param threads    of the program, ended ones included
    public record MeasuredProcess(
            String program,
            int pid,
            ProcessStart start,
            Instant started,
            @Nullable Instant ended,
            OptionalInt exitStatus,
            OptionalInt exitSignal,
            int threads) {}

    /// How the program was measured.
    ///
    /// @param collected     what the session holds of its functions
    /// @param exact         whether every call is recorded, rather than a sample
    /// @param cpuTime       whether durations are CPU time of the calling threads, rather than elapsed time
    /// @param budgetPercent of the program's time that a sampled profile may cost
    public record Method(
            Collected collected, boolean exact, boolean cpuTime, Sync sync, OptionalDouble budgetPercent) {}

    /// When probes were in place.
    ///
    /// @param armed      whether they were at any time
    /// @param afterNanos from the start until they were, when known
    /// @param fromMain   whether main waited for them, so that none of its calls was missed
    public record Probes(boolean armed, OptionalLong afterNanos, boolean fromMain) {}

    /// What the program and the agent have done.
    ///
    /// @param agentNanos   CPU time of the agent's threads
    /// @param programNanos CPU time of the program's threads, 0 when not requested
    /// @param waited       time the program's threads have waited for processors, per nanosecond of their CPU
    ///     time; 0 while unknown
    /// @param toggles      stores to probe sites
    /// @param samples      calls that reported their callers, in a sampled session
    public record Costs(long agentNanos, long programNanos, double waited, long toggles, long samples) {}

    public String program() {
        return process.program;
    }

    public int pid() {
        return process.pid;
    }

    public ProcessStart start() {
        return process.start;
    }

    public Instant started() {
        return process.started;
    }

    public @Nullable Instant ended() {
        return process.ended;
    }

    public boolean exact() {
        return method.exact;
    }

    public boolean cpuTime() {
        return method.cpuTime;
    }

    public Collected collected() {
        return method.collected;
    }

    /// What is recorded, in a word: `exact` or `sampled` latency, `counts` or `coverage`.
    public String mode() {
        return !method.collected.isTimed() ? method.collected.key() : method.exact ? "exact" : "sampled";
    }

    /// What was executed: `redis-server` though that is a link to `redis-check-rdb`.
    public String name() {
        return BaseName.of(process.program);
    }

    /// CPU time of the program's threads, or the time from start to end if that is unknown; above 0.
    public double cpuSeconds() {
        return Math.max(1, costs.programNanos > 0 ? costs.programNanos : elapsedNanos.orElse(0)) / 1e9;
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
                process,
                state,
                method,
                new Probes(probes.armed, OptionalLong.of(0), probes.fromMain),
                new Costs(agentNanos, programNanos, costs.waited, costs.toggles, 0),
                OptionalLong.of(elapsedNanos),
                tscHz);
    }

    /// The time in which probes were in place, the basis of rates and percentages; the whole time if it is
    /// unknown when they were put in place.
    public OptionalLong measuredNanos() {
        return elapsedNanos.isEmpty()
                ? OptionalLong.empty()
                : OptionalLong.of(Math.max(0, elapsedNanos.getAsLong() - probes.afterNanos.orElse(0)));
    }

    /// How long the program ran before probes were in place: calls of that time are in no figure.
    public OptionalLong unseenNanos() {
        return probes.fromMain ? OptionalLong.of(0) : probes.afterNanos;
    }

    /// Nanoseconds per unit of recorded durations; empty if unknown.
    public OptionalDouble nanosPerUnit() {
        if (method.cpuTime) {
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
