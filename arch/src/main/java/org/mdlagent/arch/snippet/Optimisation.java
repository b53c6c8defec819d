package org.mdlagent.arch.snippet;

import java.util.Set;

/// Optimisations of snippets: the first three are passes of the [Optimiser], the others apply during code
/// generation. Each can be disabled to measure it.
public enum Optimisation {
    /// [ConstantFolding].
    CONSTANTS,
    /// [CommonSubexpressions].
    COMMON_SUBEXPRESSIONS,
    /// [Vectorisation].
    VECTORISATION,
    /// The paper's peephole pass: values and small constants become operands of the instruction that needs them,
    /// and an increment adds 1.
    DIRECT_OPERANDS,
    /// Only registers that the snippets change are saved.
    SAVES_ON_DEMAND,
    /// Fuses the snippets of a chain, so registers are saved once. Otherwise each snippet saves and restores its
    /// own and jumps to the next, like the paper's mini-trampolines.
    FUSION;

    public static Set<Optimisation> all() {
        return Set.of(values());
    }
}
