package org.mdlagent.arch.elf;

/// Where the canonical frame address (CFA) of a function's activation is: on x86-64 the stack pointer's value before
/// the call pushed the return address (DWARF 5 section 6.4).
public sealed interface CfaRule {
    /// CFA = register + offset.
    ///
    /// @param register DWARF's number of the register
    /// @param offset bytes
    record RegisterOffset(int register, long offset) implements CfaRule {}

    /// No plain rule.
    enum Undescribed implements CfaRule {
        /// No range covers the address.
        NO_RANGE,
        /// The rule is a DWARF expression, as in procedure linkage tables and signal frames.
        EXPRESSION,
        /// The description uses an unsupported feature.
        UNKNOWN
    }
}
