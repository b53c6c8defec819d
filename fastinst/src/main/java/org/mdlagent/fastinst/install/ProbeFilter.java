package org.mdlagent.fastinst.install;

/// Which functions are probed.
public interface ProbeFilter {
    /// @param image path of the ELF file
    /// @param file  source file, "" when unknown
    /// @param name  demangled name
    boolean includes(String image, String file, String name);

    /// Which calls of a function are timed where not all are.
    ///
    /// @param image path of the ELF file
    /// @param file  source file, "" when unknown
    /// @param name  demangled name
    default Tier tier(String image, String file, String name) {
        return Tier.WINDOWED;
    }

    /// Whether source files are looked at, so that line tables must be read before probes are armed.
    boolean needsFiles();
}
