package org.mdlagent.fastinst.install;

import org.jspecify.annotations.Nullable;

/// Which functions are probed.
public interface ProbeFilter {
    /// @param image path of the ELF file
    /// @param file  source file, "" when unknown
    /// @param name  demangled name
    boolean includes(String image, String file, String name);

    /// Whether it [#includes] every function, so that nobody need ask.
    default boolean includesAll() {
        return false;
    }

    /// Which calls of a function are timed where not all are; null when the profiler is to choose, by how often it is
    /// called.
    ///
    /// @param image path of the ELF file
    /// @param file  source file, "" when unknown
    /// @param name  demangled name
    default @Nullable Tier tier(String image, String file, String name) {
        return null;
    }

    /// Whether functions of this very image have been asked for. Then it is probed though no compiler has prepared it.
    /// The program always is.
    ///
    /// @param image path of the ELF file
    default boolean names(String image) {
        return false;
    }

    /// Whether source files are looked at, so that line tables must be read before probes are armed.
    boolean needsFiles();
}
