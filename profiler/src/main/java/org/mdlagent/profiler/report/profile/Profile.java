package org.mdlagent.profiler.report.profile;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.OptionalDouble;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.figures.ProbeCost;

/// A snapshot of a session's contents.
///
/// @param functions all probed functions, those never called included, in the order of their discovery
/// @param unmatched calls whose end was not seen: left by `longjmp` or by unwinding
/// @param losses    what is missing, at most one of each reason
/// @param family the processes whose calls these are
/// @param probeNanos predicted cost of the probes for the program's threads
/// @param everyCallNanos of that, the cost of recording every call of some functions while others are sampled
/// @param cpu       where the threads' CPU time was spent
/// @param metrics the enabled metrics, in the order of their requests
/// @param edges the call graph, including edges to or from code that is not among the functions; empty if
///     unknown
/// @param paths call paths of the CPU time
/// @param range of time that functions, edges and costs cover; null for the whole session
public record Profile(
        SessionFacts session,
        List<FunctionProfile> functions,
        long unmatched,
        List<Loss> losses,
        Family family,
        long probeNanos,
        long everyCallNanos,
        CpuSamples cpu,
        List<MetricValue> metrics,
        List<CallEdge> edges,
        CallTree paths,
        @Nullable TimeRange range) {

    /// The processes of a session.
    ///
    /// @param processes      in the order of their starts; of very many, those that ended first are dropped
    /// @param forgotten      number of dropped processes
    /// @param callsForgotten their calls
    public record Family(List<ProcessProfile> processes, long forgotten, long callsForgotten) {
        public Family {
            processes = List.copyOf(processes);
        }

        /// Processes so far.
        public long size() {
            return processes.size() + forgotten;
        }
    }

    public Profile {
        losses = List.copyOf(losses);
        functions = List.copyOf(functions);
        metrics = List.copyOf(metrics);
        edges = List.copyOf(edges);
    }

    /// A whole session without samples of CPU time.
    public Profile(
            SessionFacts session,
            List<FunctionProfile> functions,
            long unmatched,
            List<Loss> losses,
            Family family,
            long probeNanos,
            List<MetricValue> metrics,
            List<CallEdge> edges) {
        this(
                session,
                functions,
                unmatched,
                losses,
                family,
                probeNanos,
                everyCallNanos(session, functions),
                CpuSamples.NONE,
                metrics,
                edges,
                CallTree.NONE,
                null);
    }

    /// A copy with samples of CPU time.
    public Profile withCpu(CpuSamples samples, CallTree paths) {
        return new Profile(
                session,
                functions,
                unmatched,
                losses,
                family,
                probeNanos,
                everyCallNanos,
                samples,
                metrics,
                edges,
                paths,
                range);
    }

    /// The number lost for a reason.
    public long lost(Loss.Reason reason) {
        return losses.stream()
                .filter(loss -> loss.reason() == reason)
                .mapToLong(Loss::count)
                .sum();
    }

    /// Calls counted but not timed for lack of room.
    public long dropped() {
        return lost(Loss.Reason.CALLS);
    }

    private static long everyCallNanos(SessionFacts session, List<FunctionProfile> functions) {
        if (session.exact() || session.tscHz().isEmpty()) {
            return 0;
        }
        ProbeCost cost = new ProbeCost(session.cpuTime());
        double ticks = functions.stream()
                .filter(FunctionProfile::exact)
                .mapToDouble(function -> function.sampled() * cost.exact(function.calls() / session.cpuSeconds()))
                .sum();
        return Math.round(ticks / session.tscHz().getAsDouble() * 1e9);
    }

    /// The measurements of the same session in a range of time; the rest is the session's. Time slices have
    /// no samples of CPU time.
    public Profile during(
            TimeRange range,
            SessionFacts facts,
            List<FunctionProfile> functions,
            long probeNanos,
            List<CallEdge> edges) {
        return new Profile(
                facts,
                functions,
                unmatched,
                losses,
                family,
                probeNanos,
                everyCallNanos(facts, functions),
                CpuSamples.NONE,
                metrics,
                edges,
                CallTree.NONE,
                range);
    }

    /// The same session with only the functions for which `wanted` holds.
    public Profile only(Predicate<FunctionProfile> wanted) {
        return new Profile(
                session,
                functions.stream().filter(wanted).toList(),
                unmatched,
                losses,
                family,
                probeNanos,
                everyCallNanos,
                cpu,
                metrics,
                edges,
                paths,
                range);
    }

    /// The edges to each function, in descending order of time.
    public IdentityHashMap<FunctionProfile, List<CallEdge>> callers() {
        IdentityHashMap<FunctionProfile, List<CallEdge>> callers = new IdentityHashMap<>();
        for (CallEdge edge : edges) {
            callers.computeIfAbsent(edge.callee(), callee -> new ArrayList<>()).add(edge);
        }
        callers.values()
                .forEach(of -> of.sort(Comparator.comparingLong(CallEdge::nanos).reversed()));
        return callers;
    }

    /// CPU time of the agent's threads, in percent of the program's time: its elapsed time, or the CPU time
    /// of its threads if that is more.
    public OptionalDouble agentPercent() {
        return percentOfTime(session.costs().agentNanos());
    }

    /// The cost of the probes for the program's threads, in percent of the program's time: as predicted, or
    /// by samples of the CPU time if they contradict the prediction ([CpuSamples#probeNanos]).
    public OptionalDouble probePercent() {
        return session.tscHz().isPresent() ? percentOfTime(cpu.probeNanos(probeNanos)) : OptionalDouble.empty();
    }

    /// Of that, the cost of recording every call of some functions; empty if all functions are treated alike.
    public OptionalDouble everyCallPercent() {
        return everyCallNanos > 0 ? percentOfTime(everyCallNanos) : OptionalDouble.empty();
    }

    /// The sum of [#agentPercent] and [#probePercent].
    public OptionalDouble overheadPercent() {
        return session.tscHz().isPresent()
                ? percentOfTime(session.costs().agentNanos() + cpu.probeNanos(probeNanos))
                : OptionalDouble.empty();
    }

    private OptionalDouble percentOfTime(double nanos) {
        long time = Math.max(session.elapsedNanos().orElse(0), session.costs().programNanos());
        return time > 0 ? OptionalDouble.of(100.0 * nanos / time) : OptionalDouble.empty();
    }
}
