package org.mdlagent.arch.snippet;

import java.util.EnumSet;
import java.util.Set;

/// What is done to make the code of snippets cheaper: the first three by passes of the [Optimiser], the others where
/// code is emitted. Each can be left out, to measure it.
public enum Optimisation {
    /// [ConstantFolding].
    CONSTANTS,
    /// [CommonSubexpressions].
    COMMON_SUBEXPRESSIONS,
    /// [Vectorisation].
    VECTORISATION,
    /// The paper's peephole pass: values and small constants are operands of the instruction that needs them, and 1 is
    /// added by an increment.
    DIRECT_OPERANDS,
    /// Only registers that the snippets change are saved.
    SAVES_ON_DEMAND,
    /// The snippets of a chain are one piece of code, which saves registers once. Else each saves and brings back its
    /// own, and jumps to the next, as the paper's mini-trampolines do.
    FUSION;

    public static Set<Optimisation> all() {
        return EnumSet.allOf(Optimisation.class);
    }
}
