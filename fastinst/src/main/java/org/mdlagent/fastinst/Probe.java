package org.mdlagent.fastinst;

import org.jspecify.annotations.Nullable;

/// A place in the program where a function begins or ends, and where clients may run.
///
/// @param id       its number: probes are numbered from 0 without gaps, and keep their numbers
/// @param kind     which of the two
/// @param function address of the function; 0 when the program shows it with the first call only, or several share
///     the probe
/// @param address  of the instruction
/// @param name     demangled; null when the function is not known
/// @param symbol   as in the symbol table; null when the function is not known
/// @param image    path of the executable or library
/// @param file     source file, null when it is not known, or not yet
/// @param line     where the function is defined, 0 when it is not known
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

    /// What a probe sees.
    public enum Kind {
        /// The function begins.
        ENTRY,
        /// The function ends.
        EXIT
    }
}
