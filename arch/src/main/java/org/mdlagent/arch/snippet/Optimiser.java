package org.mdlagent.arch.snippet;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;

/// Optimises chains of snippets by passes in this order; their result is emitted unchanged:
///
/// | pass | when |
/// | --- | --- |
/// | `vectorisation` | [Optimisation#VECTORISATION] |
/// | the caller's pass, which adds counters | there is one |
/// | `constants` | [Optimisation#CONSTANTS] |
/// | `common subexpressions` | [Optimisation#COMMON_SUBEXPRESSIONS] |
public final class Optimiser {
    private final List<Pass> passes = new ArrayList<>();

    /// @param name   for users
    /// @param change gives a chain with the same effect as far as its own values go
    public record Pass(String name, UnaryOperator<List<Snippet>> change) {}

    /// The result of a pass.
    public record Stage(String pass, List<Snippet> chain) {}

    public Optimiser(Set<Optimisation> optimisations) {
        this(optimisations, List.of());
    }

    /// @param counting adds statements that count the chain's work, after vectorisation
    public Optimiser(Set<Optimisation> optimisations, Pass counting) {
        this(optimisations, List.of(counting));
    }

    private Optimiser(Set<Optimisation> optimisations, List<Pass> callers) {
        if (optimisations.contains(Optimisation.VECTORISATION)) {
            passes.add(new Pass("vectorisation", Vectorisation::vectorise));
        }
        passes.addAll(callers);
        if (optimisations.contains(Optimisation.CONSTANTS)) {
            passes.add(new Pass("constants", ConstantFolding::foldAll));
        }
        if (optimisations.contains(Optimisation.COMMON_SUBEXPRESSIONS)) {
            passes.add(new Pass("common subexpressions", CommonSubexpressions::share));
        }
    }

    /// A chain with the same effect.
    public List<Snippet> optimise(List<Snippet> chain) {
        List<Stage> stages = stages(chain);
        return stages.isEmpty() ? chain : stages.getLast().chain;
    }

    /// The result of each pass, in order.
    public List<Stage> stages(List<Snippet> chain) {
        List<Stage> stages = new ArrayList<>();
        List<Snippet> current = chain;
        for (Pass pass : passes) {
            current = pass.change.apply(current);
            stages.add(new Stage(pass.name, current));
        }
        return stages;
    }
}
