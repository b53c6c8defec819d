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

    /// A callee's time reaches callers so many calls up: cycles of rare calls have no end else.
    private static final int LEVELS = 64;

    /// Where more than this part of a function's time comes by functions that it calls, its outermost calls are not
    /// known from the others.
    private static final double NESTED_MAX = 0.1;

    /// The self time of a function that calls itself is told where it is so much of the time of all its calls.
    private static final double SELF_MIN = 0.2;

    /// What a recursive function takes off its caller is a guess where few such calls were looked at. That matters
    /// where all of its calls have more than this part of the caller's self time.
    private static final double GUESS_MAX = 0.1;

    /// An edge with less than this part of its callee's time closes no cycle: it may be a guess that was wrong.
    private static final double CYCLE_MIN = 0.01;

    /// By callee, then by caller, which is [#NONE] when it is not known.
    private final List<Map<Integer, Edge>> edges = new ArrayList<>();

    /// Of these edges; null until it is asked for.
    private @Nullable Cycles cycles;

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
        cycles = null;
        edges.get(callee).merge(caller, new Edge(calls, ticks, samples), Edge::plus);
    }

    /// Forgets the calls of a function.
    public void withhold(int callee) {
        cycles = null;
        edges.get(callee).clear();
    }

    /// The functions, of which none that is sampled has less time than the calls that it makes are known to take at
    /// least: of the few that are long its sample may have none, and a callee's may. What is beyond may be the
    /// callee's error. Nor is its longest call shorter than that of a callee that nobody else calls. Functions that
    /// call each other say nothing of each other: their times have the same calls in them many times.
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

    /// A caller's part of a callee's time.
    private record Part(int caller, int callee, double ofTime) {}

    /// What is known, at least, of functions that do not call each other.
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
    /// they are where no caller is known. Of a sampled function that calls itself the total has the time of these
    /// calls once; there is none where too few of its outermost calls were looked at, or where it calls itself by
    /// way of others. Its self time is not known where too little is left, and that of its callers where too few of
    /// their calls of it were looked at. Nor is that of callers of what nobody knows how long it took.
    ///
    /// @param nested whether the totals of exact functions have nested calls in them, too
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

    /// The functions whose self time hangs on a guess: they call a recursive one, and few of these calls were looked
    /// at. Where few were looked at in all, callers may be missing among the edges: any function may be one whose
    /// calls take as long.
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

    /// How far the calls of an edge may be off: those of the callee, and the caller's part of them.
    private static OptionalDouble error(FunctionProfile callee, Estimate edge, long samples, long calls) {
        boolean known =
                edge.calls > 0 && (callee.callsExact() || callee.callsError().isPresent());
        OptionalDouble ofPart =
                known ? Confidence.ofPart((double) edge.calls / calls, samples) : OptionalDouble.empty();
        return ofPart.isEmpty()
                ? ofPart
                : OptionalDouble.of(
                        Math.hypot(ofPart.getAsDouble(), callee.callsError().orElse(0)));
    }

    private long samples(int callee) {
        return edges.get(callee).values().stream().mapToLong(Edge::samples).sum();
    }

    /// One whose total is of all calls, with that of outermost ones. Where most of that is of nested calls, what is
    /// left is a small difference of two estimates, and is not told.
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

    /// How much of a function's time came by these callers.
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

    /// What one unit of the edges that lead to a function stands for when together they are `whole`.
    private double scale(int callee, double whole, ToLongFunction<Edge> part) {
        double sum = 0;
        for (Edge edge : edges.get(callee).values()) {
            sum += part.applyAsLong(edge);
        }
        return sum == 0 ? 0 : whole / sum;
    }
}
