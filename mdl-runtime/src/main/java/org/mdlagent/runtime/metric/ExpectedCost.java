package org.mdlagent.runtime.metric;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.mdlagent.arch.snippet.Expression;
import org.mdlagent.arch.snippet.Snippet;
import org.mdlagent.arch.snippet.Statement;
import org.mdlagent.fastinst.snippet.Snippets;
import org.mdlagent.runtime.mdl.request.Answer;
import org.mdlagent.runtime.mdl.request.SnippetRequest;

/// Estimates the overhead of metrics: the cost of their snippets times the call rates of their points. The
/// profiler knows the rates; library functions, which it does not see, are counted for a short trial.
final class ExpectedCost {
    private static final long TRIAL_NANOS = 20_000_000;

    /// Lifetime of a trial's result, because requests come in groups.
    private static final long TRIAL_HOLDS_NANOS = 2_000_000_000;

    private final Snippets snippets;
    private final LongSupplier profiledTicks;

    /// By probe.
    private final Map<Integer, Trial> trials = new HashMap<>();

    /// @param rate calls per tick
    private record Trial(double rate, long endsNanos) {}

    /// @param profiledTicks duration of call counting so far, 0 if calls are not counted
    ExpectedCost(Snippets snippets, LongSupplier profiledTicks) {
        this.snippets = snippets;
        this.profiledTicks = profiledTicks;
    }

    /// Overhead in percent, including flags that are in place already; empty if unknown. Library functions are
    /// counted only if there is a limit, because the trial takes time.
    ///
    /// @param max the limit
    OptionalDouble percent(Collection<Answer.Instance> instances, ProbedProgram program, double max)
            throws IOException {
        long ticks = profiledTicks.getAsLong();
        Map<Integer, List<Snippet>> chains = chains(instances, program);
        List<Integer> untold =
                chains.keySet().stream().filter(program::isOfLibrary).toList();
        if (ticks <= 0 || !untold.isEmpty() && Double.isInfinite(max)) {
            return OptionalDouble.empty();
        }
        count(untold.stream().filter(probe -> !isKnown(probe)).toList());
        double taken = chains.entrySet().stream()
                .mapToDouble(chain -> {
                    Trial trial = untold.contains(chain.getKey()) ? trials.get(chain.getKey()) : null;
                    double rate = trial == null ? program.reached(chain.getKey()) / ticks : trial.rate;
                    return rate * snippets.costs().ticks(chain.getValue());
                })
                .sum();
        return OptionalDouble.of(100 * taken);
    }

    /// Snippets by probe; a vector's snippets count once for all objects. Each of several probes of a point is
    /// charged all calls.
    private static Map<Integer, List<Snippet>> chains(Collection<Answer.Instance> instances, ProbedProgram program) {
        Map<Integer, List<Snippet>> chains = new LinkedHashMap<>();
        Set<SnippetRequest> ofVectors = new HashSet<>();
        for (Answer.Instance instance : instances) {
            Set<SnippetRequest> once = instance.flags().stream()
                    .filter(flag -> flag.choice() != null)
                    .flatMap(flag -> flag.snippets().stream())
                    .collect(Collectors.toSet());
            for (CompiledMetric.Placed placed : CompiledMetric.of(instance).snippets()) {
                if (once.contains(placed.request()) && !ofVectors.add(placed.request())) {
                    continue;
                }
                program.probes(placed.request()).stream()
                        .limit(1)
                        .forEach(probe -> chains.computeIfAbsent(probe, key -> new ArrayList<>())
                                .add(placed.snippet()));
            }
        }
        return chains;
    }

    private boolean isKnown(int probe) {
        Trial trial = trials.get(probe);
        return trial != null && System.nanoTime() - trial.endsNanos < 0;
    }

    private void count(List<Integer> probes) throws IOException {
        if (probes.isEmpty()) {
            return;
        }
        Map<Integer, Integer> counters = new LinkedHashMap<>();
        try {
            for (int probe : probes) {
                int counter = snippets.values().counter();
                snippets.attach(probe, Snippets.Order.APPEND, counting(counter));
                counters.put(probe, counter);
            }
            long begin = profiledTicks.getAsLong();
            LockSupport.parkNanos(TRIAL_NANOS);
            double ticks = Math.max(1, profiledTicks.getAsLong() - begin);
            long ends = System.nanoTime() + TRIAL_HOLDS_NANOS;
            counters.forEach((probe, counter) ->
                    trials.put(probe, new Trial(snippets.values().sum(counter) / ticks, ends)));
        } finally {
            for (Map.Entry<Integer, Integer> one : counters.entrySet()) {
                snippets.detach(one.getKey(), counting(one.getValue()));
                snippets.values().release(one.getValue());
            }
        }
    }

    private static Snippet counting(int counter) {
        return Snippet.of(new Statement.Add(counter, new Expression.Constant(1)));
    }
}
