package org.mdlagent.arch.snippet;

import java.util.EnumSet;
import java.util.Set;

/// What is done to make the code of snippets cheaper. Each can be left out, to measure it.
public enum Optimisation {
    /// [ConstantFolding].
    CONSTANTS,
    /// Values and small constants are operands of the instruction that needs them, and 1 is added by an increment.
    DIRECT_OPERANDS,
    /// Only registers that the snippets change are saved.
    SAVES_ON_DEMAND;

    public static Set<Optimisation> all() {
        return EnumSet.allOf(Optimisation.class);
    }
}
