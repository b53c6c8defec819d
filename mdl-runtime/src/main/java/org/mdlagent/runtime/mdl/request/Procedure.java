package org.mdlagent.runtime.mdl.request;

/// A function of the program.
///
/// @param id     the program's number for it
/// @param name   demangled
/// @param symbol mangled; the same as the name in C
/// @param module name of its module
/// @param image  path of its ELF file
public record Procedure(int id, String name, String symbol, String module, String image) {
    /// As a resource.
    public String path() {
        return "/Code/" + module + "/" + name;
    }
}
