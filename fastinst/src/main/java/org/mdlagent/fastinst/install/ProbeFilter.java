package org.mdlagent.fastinst.install;

import org.jspecify.annotations.Nullable;

/// Selects the functions to probe.
public interface ProbeFilter {
    /// @param image path of the ELF file
    /// @param file  source file, "" when unknown
    /// @param name  demangled name
    boolean includes(String image, String file, String name);

    /// Whether it [#includes] every function, so that asking is unnecessary.
    default boolean includesAll() {
        return false;
    }

    /// Which calls of a function are timed if not all are; null when the profiler chooses by its call rate.
    ///
    /// @param image path of the ELF file
    /// @param file  source file, "" when unknown
    /// @param name  demangled name
    default @Nullable Tier tier(String image, String file, String name) {
        return null;
    }

    /// Whether the filter names this image. Then it is probed even if no compiler has prepared it. The
    /// program always is.
    ///
    /// @param image path of the ELF file
    default boolean names(String image) {
        return false;
    }

    /// Whether the filter uses source files, so that line tables must be read before probes are armed.
    boolean needsFiles();
}
