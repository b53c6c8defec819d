package org.mdlagent.arch.elf;

import org.jspecify.annotations.Nullable;

/// Where the canonical frame address (CFA) of a function's activation is: on x86-64 the stack pointer's value before
/// the call pushed the return address (DWARF 5 section 6.4).
public sealed interface CfaRule {
    /// CFA = register + offset.
    ///
    /// @param register DWARF's number of the register
    /// @param offset bytes
    record RegisterOffset(int register, long offset) implements CfaRule {
        // Written out: the compiler's links method handles, which costs milliseconds at each start.
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof RegisterOffset rule && register == rule.register && offset == rule.offset;
        }

        @Override
        public int hashCode() {
            return 31 * register + Long.hashCode(offset);
        }
    }

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
