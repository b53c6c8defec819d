package org.mdlagent.profiler.report.statistics;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.function.IntPredicate;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.figures.Confidence;
import org.mdlagent.profiler.report.profile.CallEdge;
import org.mdlagent.profiler.report.profile.FunctionProfile;

/// The call graph, and the self times that follow from it.
///
/// An edge gets a share of the callee's known total, which may be estimated. Edges include all calls, also
/// nested calls of a recursive function.
public final class EdgeSums {
    /// A caller that is unknown or has no probes.
    public static final int NONE = -1;

    /// Minimum samples of a recursive function's outermost calls for which its caller shares are known.
    private static final int OUTERMOST_MIN = 30;

    /// Maximum call depth over which a callee's time is propagated to callers: cycles of rare edges would not
    /// end.
    private static final int LEVELS = 64;

    /// If more than this share of a function's time comes from mutual recursion, its outermost calls cannot
    /// be separated from the others.
    private static final double NESTED_MAX = 0.1;

    /// Minimum self time of a recursive function, relative to the time of all its calls, for it to be shown.
    private static final double SELF_MIN = 0.2;

    /// The time that a recursive callee takes from its caller is a guess if few such calls were sampled. The
    /// guess matters if all calls of the callee exceed this share of the caller's self time.
    private static final double GUESS_MAX = 0.1;

    /// An edge with less than this share of its callee's time closes no cycle: it may be a wrong attribution.
    private static final double CYCLE_MIN = 0.01;

    /// By callee, then by caller, [#NONE] if unknown.
    private final List<Map<Integer, Edge>> edges = new ArrayList<>();

    /// Of these edges; null until needed.
    private @Nullable Cycles cycles;

    private record Edge(long calls, long ticks, long samples) {
        Edge plus(Edge other) {
            return new Edge(
                    Math.addExact(calls, other.calls),
                    Math.addExact(ticks, other.ticks),
                    Math.addExact(samples, other.samples));
        }
    }

    /// @param functions number of functions
    public EdgeSums(int functions) {
        for (int i = 0; i < functions; i++) {
            edges.add(new TreeMap<>());
        }
    }

    /// Adds calls of a function from a caller, [#NONE] if unknown.
    public void add(int callee, int caller, long calls, long ticks, long samples) {
        cycles = null;
        edges.get(callee).merge(caller, new Edge(calls, ticks, samples), Edge::plus);
    }

    /// Removes the calls of a function.
    public void withhold(int callee) {
        cycles = null;
        edges.get(callee).clear();
    }

    /// Raises times of sampled functions to what their callees imply. No function gets less time than its
    /// calls are known to take at least: its sample may miss the few long calls that a callee's sample has.
    /// Only the lower bound counts, because the rest may be the callee's error. Its longest call is at least
    /// as long as that of a callee that only it calls. Mutually recursive functions are not compared: their
    /// times contain the same calls many times.
    ///
    /// @param errors of these functions
    public List<FunctionProfile> raised(List<FunctionProfile> functions, TotalErrors errors) {
        Cycles cycles = cycles();
        double[] nanos = functions.stream().mapToDouble(EdgeSums::ofAllCalls).toArray();
        double[] before = nanos.clone();
        FunctionProfile[] raised = functions.toArray(FunctionProfile[]::new);
        List<Part> parts = leastParts(cycles, errors);
        boolean changed = true;
        for (int level = 0; level < LEVELS && changed; level++) {
            changed = false;
            double[] inCallees = new double[nanos.length];
            parts.forEach(part -> inCallees[part.caller] += nanos[part.callee] * part.ofTime);
            for (int i = 0; i < nanos.length; i++) {
                FunctionProfile function = functions.get(i);
                if (!function.exact() && function.totalNanos().isPresent() && inCallees[i] >= nanos[i] + 1) {
                    nanos[i] = inCallees[i];
                    changed = true;
                }
            }
            changed |= raiseMaxima(raised, cycles);
        }
        for (int i = 0; i < nanos.length; i++) {
            if (nanos[i] > before[i]) {
                raised[i] = raised[i].withMore(Math.round(nanos[i] - before[i]));
            }
        }
        return List.of(raised);
    }

    /// A caller's share of a callee's time.
    private record Part(int caller, int callee, double ofTime) {}

    /// Lower bounds of the shares, for functions that are not mutually recursive.
    private List<Part> leastParts(Cycles cycles, TotalErrors errors) {
        List<Part> parts = new ArrayList<>();
        for (int i = 0; i < edges.size(); i++) {
            int callee = i;
            double partOfTick = scale(i, 1, Edge::ticks);
            long samples = samples(i);
            edges.get(i).forEach((caller, edge) -> {
                if (caller != NONE && !cycles.join(caller, callee)) {
                    double least = errors.leastPart(callee, partOfTick * edge.ticks, samples);
                    parts.add(new Part(caller, callee, least));
                }
            });
        }
        return parts;
    }

    private boolean raiseMaxima(FunctionProfile[] functions, Cycles cycles) {
        boolean changed = false;
        for (int i = 0; i < functions.length; i++) {
            Map<Integer, Edge> callers = edges.get(i);
            int caller = callers.size() == 1 ? callers.keySet().iterator().next() : NONE;
            if (caller != NONE
                    && !cycles.join(caller, i)
                    && !functions[caller].exact()
                    && functions[caller].isOutlastedBy(functions[i])) {
                functions[caller] = functions[caller].withCallAsLongAs(functions[i]);
                changed = true;
            }
        }
        return changed;
    }

    /// An edge scaled to all calls of its callee, timed or not.
    ///
    /// @param caller index of a function, or [#NONE]
    /// @param callee index of a function
    public record Estimate(int caller, int callee, long calls, long nanos, long samples) {}

    /// The edges, scaled.
    public List<Estimate> estimates(List<FunctionProfile> functions) {
        List<Estimate> all = new ArrayList<>();
        for (int i = 0; i < functions.size(); i++) {
            int callee = i;
            double nanosPerTick = scale(i, ofAllCalls(functions.get(i)), Edge::ticks);
            double callsPerCall = tellAll(functions.get(i), samples(i))
                    ? 1
                    : scale(i, functions.get(i).calls(), Edge::calls);
            edges.get(i).forEach((caller, edge) -> {
                double calls = callsPerCall * edge.calls;
                double nanos = nanosPerTick * edge.ticks;
                all.add(new Estimate(caller, callee, Math.round(calls), Math.round(nanos), edge.samples));
            });
        }
        return all;
    }

    /// Adds self times: the total minus the time in probed callees. Functions are unchanged if no caller is
    /// known.
    ///
    /// For a sampled function that is recursive, the total becomes that of its outermost calls. It is unknown
    /// if too few of those were sampled, or if the recursion goes through other functions. Its self time is
    /// unknown if it would be too small a part of the total. The self time of its callers is unknown if too
    /// few of their calls to it were sampled, and so is that of callers of a function whose time has no known
    /// error.
    ///
    /// @param nested whether the totals of exact functions contain nested calls as well
    public List<FunctionProfile> withSelf(
            List<FunctionProfile> functions, List<Estimate> edges, TotalErrors errors, boolean nested) {
        if (edges.isEmpty()) {
            return functions;
        }
        long[] inCallees = new long[functions.size()];
        for (Estimate edge : edges) {
            if (edge.caller != NONE) {
                inCallees[edge.caller] += edge.nanos;
                errors.addCallee(edge, samples(edge.callee));
            }
        }
        Cycles cycles = cycles();
        List<FunctionProfile> known = new ArrayList<>(functions.size());
        BitSet guessed = callersOfGuesses(functions, inCallees, cycles);
        for (int i = 0; i < inCallees.length; i++) {
            FunctionProfile function = functions.get(i);
            if (function.totalNanos().isPresent()) {
                long self = ofAllCalls(function) - inCallees[i];
                function = function.withSelf(self, errors.ofTotal(i), errors.ofSelf(i));
                boolean hangsOnUnknown =
                        errors.ofTotal(i).isPresent() && errors.ofSelf(i).isEmpty();
                if (guessed.get(i) || hangsOnUnknown) {
                    function = function.withGuessedSelf();
                }
                if (nested || !function.exact()) {
                    function = outermost(function, i, cycles);
                }
            }
            known.add(function);
        }
        return known;
    }

    /// Functions whose self time depends on a guess: they call a recursive function, and few of those calls
    /// were sampled. If few of its outermost calls were sampled at all, edges may be missing, so any function
    /// with calls at least as long may be a caller.
    private BitSet callersOfGuesses(List<FunctionProfile> functions, long[] inCallees, Cycles cycles) {
        BitSet callers = new BitSet();
        for (int i = 0; i < functions.size(); i++) {
            FunctionProfile callee = functions.get(i);
            int index = i;
            if (callee.exact() || part(index, caller -> cycles.join(caller, index)) <= NESTED_MAX) {
                continue;
            }
            Map<Integer, Edge> ofCallee = edges.get(index);
            boolean few = outermostSamples(index, cycles) < OUTERMOST_MIN;
            for (int caller = 0; caller < inCallees.length; caller++) {
                FunctionProfile function = functions.get(caller);
                Edge edge = ofCallee.get(caller);
                boolean guess = edge != null && edge.samples < OUTERMOST_MIN
                        || edge == null && few && nanosPerCall(function) >= nanosPerCall(callee);
                double self = ofAllCalls(function) - inCallees[caller];
                if (guess && !cycles.join(caller, index) && ofAllCalls(callee) > GUESS_MAX * self) {
                    callers.set(caller);
                }
            }
        }
        return callers;
    }

    private static double nanosPerCall(FunctionProfile function) {
        return (double) ofAllCalls(function) / Math.max(1, function.calls());
    }

    /// The edges, between these functions.
    public static List<CallEdge> join(List<FunctionProfile> functions, List<Estimate> edges) {
        long[] samples = new long[functions.size()];
        long[] calls = new long[functions.size()];
        for (Estimate edge : edges) {
            samples[edge.callee] += edge.samples;
            calls[edge.callee] += edge.calls;
        }
        return edges.stream()
                .map(edge -> new CallEdge(
                        edge.caller == NONE ? null : functions.get(edge.caller),
                        functions.get(edge.callee),
                        edge.calls,
                        edge.nanos,
                        edge.samples,
                        error(functions.get(edge.callee), edge, samples[edge.callee], calls[edge.callee])))
                .toList();
    }

    /// The relative error of an edge's calls, from the error of the callee's calls and that of the caller's
    /// share.
    private static OptionalDouble error(FunctionProfile callee, Estimate edge, long samples, long calls) {
        if (tellAll(callee, samples)) {
            return OptionalDouble.of(0);
        }
        boolean known =
                edge.calls > 0 && (callee.callsExact() || callee.callsError().isPresent());
        OptionalDouble ofPart =
                known ? Confidence.ofPart((double) edge.calls / calls, samples) : OptionalDouble.empty();
        return ofPart.isEmpty()
                ? ofPart
                : OptionalDouble.of(
                        Math.hypot(ofPart.getAsDouble(), callee.callsError().orElse(0)));
    }

    /// Whether every call that has returned is in an edge.
    private static boolean tellAll(FunctionProfile callee, long samples) {
        return callee.exact() && samples >= callee.latency().count();
    }

    /// Calls of a function that told their caller.
    public long samples(int callee) {
        return edges.get(callee).values().stream().mapToLong(Edge::samples).sum();
    }

    /// Replaces the total of all calls by that of outermost calls. If most of it is nested, the rest is a
    /// small difference of two estimates and is not shown.
    private FunctionProfile outermost(FunctionProfile all, int index, Cycles cycles) {
        double nested = part(index, caller -> cycles.join(caller, index));
        if (nested == 0) {
            return all;
        }
        long samples = outermostSamples(index, cycles);
        boolean small = all.selfNanos().orElse(0) < SELF_MIN * all.totalNanos().orElse(0);
        FunctionProfile function = nested > NESTED_MAX && small ? all.withGuessedSelf() : all;
        if (samples < OUTERMOST_MIN) {
            return function.withoutTotal().withGuessedSelf();
        }
        double direct = part(index, caller -> caller == index);
        return nested - direct > NESTED_MAX
                ? function.withoutTotal()
                : function.withoutNested(direct, Confidence.QUANTILE_95 / Math.sqrt(samples));
    }

    /// The share of a function's time that comes from these callers.
    private double part(int callee, IntPredicate callers) {
        double whole = 0;
        double part = 0;
        for (Map.Entry<Integer, Edge> edge : edges.get(callee).entrySet()) {
            whole += edge.getValue().ticks;
            part += edge.getKey() != NONE && callers.test(edge.getKey()) ? edge.getValue().ticks : 0;
        }
        return whole == 0 ? 0 : part / whole;
    }

    private Cycles cycles() {
        if (cycles == null) {
            cycles = new Cycles(edges.stream().map(EdgeSums::callersThatCount).toList());
        }
        return cycles;
    }

    private static int[] callersThatCount(Map<Integer, Edge> edges) {
        double ticks = edges.values().stream().mapToDouble(Edge::ticks).sum();
        return edges.entrySet().stream()
                .filter(entry -> entry.getKey() != NONE && entry.getValue().ticks >= CYCLE_MIN * ticks)
                .mapToInt(Map.Entry::getKey)
                .toArray();
    }

    private long outermostSamples(int callee, Cycles cycles) {
        return edges.get(callee).entrySet().stream()
                .filter(edge -> edge.getKey() == NONE || !cycles.join(edge.getKey(), callee))
                .mapToLong(edge -> edge.getValue().samples)
                .sum();
    }

    /// The time of a function's calls, nested ones included.
    private static long ofAllCalls(FunctionProfile function) {
        return (function.exact() ? function.latency().totalNanos() : function.totalNanos()).orElse(0);
    }

    /// The scaling factor for the edges to a function, so that they sum up to `whole`.
    private double scale(int callee, double whole, ToLongFunction<Edge> part) {
        double sum = 0;
        for (Edge edge : edges.get(callee).values()) {
            sum += part.applyAsLong(edge);
        }
        return sum == 0 ? 0 : whole / sum;
    }
}
