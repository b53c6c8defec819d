package org.mdlagent.arch.site;

/// Receives references to functions from [CodeSearch#findReferences].
public interface FunctionUses {
    /// An instruction jumps to a function's start.
    ///
    /// @param from        an address in the instruction
    /// @param conditional whether execution may continue after it
    void jump(long from, long function, boolean conditional);

    /// An instruction calls a function or takes its address.
    void reference(long function);
}
