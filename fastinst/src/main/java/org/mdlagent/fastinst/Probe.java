package org.mdlagent.fastinst;

import org.jspecify.annotations.Nullable;

/// A place in the program where a function begins or ends, and where clients may run.
///
/// @param id       its number; numbers start at 0, have no gaps and are permanent
/// @param kind     entry or exit
/// @param function address of the function; 0 when it is known only after the first call, or several
///     functions share the probe
/// @param address  of the instruction
/// @param name     demangled; null when the function is unknown
/// @param symbol   as in the symbol table; null when the function is unknown
/// @param image    path of the executable or library
/// @param file     source file, null while or if it is unknown
/// @param line     where the function is defined, 0 when unknown
public record Probe(
        int id,
        Kind kind,
        long function,
        long address,
        @Nullable String name,
        @Nullable String symbol,
        String image,
        @Nullable String file,
        int line) {

    /// The event at a probe.
    public enum Kind {
        /// The function begins.
        ENTRY,
        /// The function ends.
        EXIT
    }
}
