package org.mdlagent.profiler.report.profile;

/// A place in the program's code that the agent switches on and off.
///
/// @param function demangled name of the function it belongs to, "" while unknown
/// @param image    path of the ELF file
/// @param address  of the instruction in the process
public record SiteProfile(String function, Kind kind, String image, long address) {

    /// What is probed at a site.
    public enum Kind {
        ENTRY,
        EXIT,
        SIBLING_EXIT,
        /// A function's first instruction; its trampoline calls the body.
        WHOLE,
        /// Where the body returns to.
        RETURN,
        /// Calls, which are only counted.
        COUNT
    }
}
