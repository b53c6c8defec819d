package org.mdlagent.fastinst;

/// Which functions are probed.
public interface ProbeFilter {
    /// @param image path of the ELF file
    /// @param file  source file, "" when unknown
    /// @param name  demangled name
    boolean includes(String image, String file, String name);

    /// Whether [#includes] looks at the source file, so that line tables must be read before probes are armed.
    boolean needsFiles();
}
