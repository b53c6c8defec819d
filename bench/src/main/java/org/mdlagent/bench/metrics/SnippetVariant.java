package org.mdlagent.bench.metrics;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.mdlagent.arch.snippet.Expression;
import org.mdlagent.arch.snippet.Optimisation;
import org.mdlagent.arch.snippet.Snippet;
import org.mdlagent.arch.snippet.Statement;
import org.mdlagent.fastinst.snippet.CostModel;

/// A variant of snippets, and its measurements by round.
///
/// @param atEntry snippets, in their order
/// @param atEnd   the same, at the return
/// @param entry   the called function
record SnippetVariant(
        String what,
        List<Snippet> atEntry,
        List<Snippet> atEnd,
        Set<Optimisation> optimisations,
        long entry,
        List<Double> rounds) {
    static final String NOTHING = "a trampoline, nothing in it";
    static final String TRAPPED = "  reached by a trap, as while it is being patched";
    static final String COUNTER = "a counter";
    static final String WALL_TIMER = "a wall timer, from entry to return";
    static final String PROCESS_TIMER = "a process timer, from entry to return";

    /// Paradyn's cost model, in ticks of its machines: `initPrimitiveCost` and `getPointCost` in the public
    /// history of its sources. A trampoline took 8 on the SPARC of 1994, at worst 70 there and on x86, and 105 in
    /// threaded programs. Counters and timers (start plus stop) are for the CM-5 of 1994 (30 ns ticks) and a
    /// Pentium II (400 MHz, no figure for counters).
    private static final Map<String, String> PARADYN = Map.of(
            NOTHING, "8-105",
            TRAPPED, "9,000",
            COUNTER, "8",
            WALL_TIMER, "90-2,625",
            PROCESS_TIMER, "112-2,674");

    SnippetVariant(
            String what, List<Snippet> atEntry, List<Snippet> atEnd, Set<Optimisation> optimisations, long entry) {
        this(what, atEntry, atEnd, optimisations, entry, new ArrayList<>());
    }

    /// Paradyn's estimate, "-" if unknown.
    String paradyn() {
        return PARADYN.getOrDefault(what, "-");
    }

    /// The agent's estimate.
    double predicted(CostModel costs) {
        return Stream.of(atEntry, atEnd)
                .filter(chain -> !chain.isEmpty())
                .mapToDouble(chain -> predicted(costs, chain))
                .sum();
    }

    private double predicted(CostModel costs, List<Snippet> chain) {
        if (optimisations.contains(Optimisation.VECTORISATION)) {
            return costs.ticks(alike(chain));
        }
        // The call of the snippets occurs once.
        double all = chain.stream().mapToDouble(costs::ticks).sum();
        return all - (chain.size() - 1) * costs.ticks(Snippet.of());
    }

    /// As the agent predicts it: snippets that differ only in their values are merged.
    private static List<Snippet> alike(List<Snippet> chain) {
        Map<Class<?>, Snippet> first = new HashMap<>();
        return chain.stream()
                .map(snippet -> snippet.statements().size() == 1
                                && snippet.statements().getFirst() instanceof Statement.If guarded
                                && !(guarded.condition() instanceof Expression.Value)
                        ? first.computeIfAbsent(guarded.condition().getClass(), key -> snippet)
                        : snippet)
                .toList();
    }
}
