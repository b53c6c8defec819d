package org.mdlagent.runtime.mdl.request;

import org.mdlagent.runtime.options.FunctionGlob;

/// A function of the program.
///
/// @param id     the program's number for it
/// @param name   demangled
/// @param symbol mangled; the same as the name in C
/// @param module name of its module
/// @param image  path of its ELF file
public record Procedure(int id, String name, String symbol, String module, String image) {
    /// The procedure's resource.
    public String path() {
        return "/Code/" + module + "/" + name;
    }

    /// The resource that represents all compiler-made copies of the function.
    public String pathOfCopies() {
        return "/Code/" + module + "/" + FunctionGlob.original(name);
    }
}
