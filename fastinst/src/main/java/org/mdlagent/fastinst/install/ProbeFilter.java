package org.mdlagent.fastinst.install;

/// Which functions are probed.
public interface ProbeFilter {
    /// @param image path of the ELF file
    /// @param file  source file, "" when unknown
    /// @param name  demangled name
    boolean includes(String image, String file, String name);

    /// Whether every call of a function is recorded where others are sampled.
    ///
    /// @param image path of the ELF file
    /// @param file  source file, "" when unknown
    /// @param name  demangled name
    default boolean wantsEveryCall(String image, String file, String name) {
        return false;
    }

    /// Whether source files are looked at, so that line tables must be read before probes are armed.
    boolean needsFiles();
}
