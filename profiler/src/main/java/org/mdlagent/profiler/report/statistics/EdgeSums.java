package org.mdlagent.profiler.report.statistics;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import org.mdlagent.profiler.estimate.Confidence;
import org.mdlagent.profiler.report.profile.CallEdge;
import org.mdlagent.profiler.report.profile.FunctionProfile;

/// Who calls whom, and with it how long functions take by themselves.
///
/// An edge has its part of what is known of the callee as a whole, which may be estimated. Edges are of all calls,
/// those of a recursive function that run within others, too.
public final class EdgeSums {
    /// A caller that is not known, or has no probes.
    public static final int NONE = -1;

    /// A recursive function's outermost calls are known by their callers: so many that were looked at are enough.
    private static final int OUTERMOST_MIN = 30;

    /// A callee's time reaches callers so many calls up: where functions call each other, there is no end else.
    private static final int LEVELS = 64;

    /// By callee, then by caller, which is [#NONE] when it is not known.
    private final List<Map<Integer, Edge>> edges = new ArrayList<>();

    private record Edge(long calls, long ticks, long samples) {
        Edge plus(Edge other) {
            return new Edge(
                    Math.addExact(calls, other.calls),
                    Math.addExact(ticks, other.ticks),
                    Math.addExact(samples, other.samples));
        }
    }

    /// @param functions how many there are
    public EdgeSums(int functions) {
        for (int i = 0; i < functions; i++) {
            edges.add(new TreeMap<>());
        }
    }

    /// Adds calls of a function by another, which is [#NONE] when it is not known.
    public void add(int callee, int caller, long calls, long ticks, long samples) {
        edges.get(callee).merge(caller, new Edge(calls, ticks, samples), Edge::plus);
    }

    /// Forgets the calls of a function.
    public void withhold(int callee) {
        edges.get(callee).clear();
    }

    /// The functions, of which none that is sampled has less time than the calls that it makes: of the few that
    /// are long its sample may have none, and a callee's may. Nor is its longest call shorter than that of a
    /// callee that nobody else calls.
    public List<FunctionProfile> raised(List<FunctionProfile> functions) {
        double[] nanos = functions.stream().mapToDouble(EdgeSums::ofAllCalls).toArray();
        double[] before = nanos.clone();
        FunctionProfile[] raised = functions.toArray(FunctionProfile[]::new);
        boolean changed = true;
        for (int level = 0; level < LEVELS && changed; level++) {
            changed = false;
            double[] inCallees = inCallees(nanos);
            for (int i = 0; i < nanos.length; i++) {
                FunctionProfile function = functions.get(i);
                if (!function.exact() && function.totalNanos().isPresent() && inCallees[i] >= nanos[i] + 1) {
                    nanos[i] = inCallees[i];
                    changed = true;
                }
            }
            changed |= raiseMaxima(raised);
        }
        for (int i = 0; i < nanos.length; i++) {
            if (nanos[i] > before[i]) {
                raised[i] = raised[i].withMore(Math.round(nanos[i] - before[i]));
            }
        }
        return List.of(raised);
    }

    private double[] inCallees(double[] nanos) {
        double[] sums = new double[nanos.length];
        for (int i = 0; i < nanos.length; i++) {
            int callee = i;
            double part = scale(i, nanos[i], Edge::ticks);
            edges.get(i).forEach((caller, edge) -> {
                if (caller != NONE && caller != callee) {
                    sums[caller] += part * edge.ticks;
                }
            });
        }
        return sums;
    }

    private boolean raiseMaxima(FunctionProfile[] functions) {
        boolean changed = false;
        for (int i = 0; i < functions.length; i++) {
            Map<Integer, Edge> callers = edges.get(i);
            int caller = callers.size() == 1 ? callers.keySet().iterator().next() : NONE;
            if (caller != NONE && !functions[caller].exact() && functions[caller].isOutlastedBy(functions[i])) {
                functions[caller] = functions[caller].withCallAsLongAs(functions[i]);
                changed = true;
            }
        }
        return changed;
    }

    /// An edge as it is for all calls of its callee, not only those that were timed.
    ///
    /// @param caller index of a function, or [#NONE]
    /// @param callee index of a function
    public record Estimate(int caller, int callee, long calls, long nanos, long samples) {}

    /// The edges between functions.
    public List<Estimate> estimates(List<FunctionProfile> functions) {
        List<Estimate> all = new ArrayList<>();
        for (int i = 0; i < functions.size(); i++) {
            int callee = i;
            double nanosPerTick = scale(i, ofAllCalls(functions.get(i)), Edge::ticks);
            double callsPerCall = scale(i, functions.get(i).calls(), Edge::calls);
            edges.get(i).forEach((caller, edge) -> {
                double calls = callsPerCall * edge.calls;
                double nanos = nanosPerTick * edge.ticks;
                all.add(new Estimate(caller, callee, Math.round(calls), Math.round(nanos), edge.samples));
            });
        }
        return all;
    }

    /// The functions with their self time, which is what is left of a total without the calls of probed functions; as
    /// they are where no caller is known. A sampled function that calls itself has the time of these calls once, or
    /// no total where too few of its outermost calls were looked at.
    public List<FunctionProfile> withSelf(List<FunctionProfile> functions, List<Estimate> edges, TotalErrors errors) {
        if (edges.isEmpty()) {
            return functions;
        }
        long[] inCallees = new long[functions.size()];
        long[] nested = new long[functions.size()];
        for (Estimate edge : edges) {
            if (edge.caller != NONE) {
                inCallees[edge.caller] += edge.nanos;
                nested[edge.caller] += edge.caller == edge.callee ? edge.nanos : 0;
                errors.addCallee(edge, samples(edge.callee));
            }
        }
        List<FunctionProfile> known = new ArrayList<>(functions.size());
        for (int i = 0; i < inCallees.length; i++) {
            FunctionProfile function = functions.get(i);
            if (function.totalNanos().isPresent()) {
                long self = ofAllCalls(function) - inCallees[i];
                function = function.withSelf(self, errors.ofTotal(i), errors.ofSelf(i));
                if (!function.exact() && nested[i] != 0) {
                    function = outermost(function, nested[i], outermostSamples(i));
                }
            }
            known.add(function);
        }
        return known;
    }

    /// The edges, between these functions.
    public static List<CallEdge> join(List<FunctionProfile> functions, List<Estimate> edges) {
        return edges.stream()
                .map(edge -> new CallEdge(
                        edge.caller == NONE ? null : functions.get(edge.caller),
                        functions.get(edge.callee),
                        edge.calls,
                        edge.nanos,
                        edge.samples))
                .toList();
    }

    private long samples(int callee) {
        return edges.get(callee).values().stream().mapToLong(Edge::samples).sum();
    }

    /// Those of a function that calls itself, of which some calls were looked at.
    private static FunctionProfile outermost(FunctionProfile function, long nested, long samples) {
        return samples < OUTERMOST_MIN
                ? function.withoutTotal()
                : function.withoutNested(nested, Confidence.QUANTILE_95 / Math.sqrt(samples));
    }

    private long outermostSamples(int callee) {
        return edges.get(callee).entrySet().stream()
                .filter(edge -> edge.getKey() != callee)
                .mapToLong(edge -> edge.getValue().samples)
                .sum();
    }

    /// The time of a function's calls, nested ones included.
    private static long ofAllCalls(FunctionProfile function) {
        return (function.exact() ? function.latency().totalNanos() : function.totalNanos()).orElse(0);
    }

    /// What one unit of the edges that lead to a function stands for when together they are `whole`.
    private double scale(int callee, double whole, ToLongFunction<Edge> part) {
        double sum = 0;
        for (Edge edge : edges.get(callee).values()) {
            sum += part.applyAsLong(edge);
        }
        return sum == 0 ? 0 : whole / sum;
    }
}
