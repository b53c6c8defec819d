package org.mdlagent.profiler.report.profile;

import org.jspecify.annotations.Nullable;

/// Code on call paths: a function, with or without probes.
///
/// @param name     demangled, or a placeholder if unknown
/// @param file     source file, null when unknown
/// @param line     in that file, 0 when unknown
/// @param image    path of the ELF file, "" for code that is in none
/// @param function the probed function that it belongs to, null for none
public record CodeFrame(
        String name,
        @Nullable String file,
        int line,
        String image,
        @Nullable FunctionProfile function) {
    /// Stands for the unknown outer part of a path.
    public static final CodeFrame CUT = special("[callers not known]");

    /// The agent's own code.
    public static final CodeFrame PROBES = special("[probes]");

    /// Code that is in no image and in no perf map.
    public static final CodeFrame ELSEWHERE = special("[unknown code]");

    private static CodeFrame special(String name) {
        return new CodeFrame(name, null, 0, "", null);
    }

    public static CodeFrame of(FunctionProfile function) {
        return new CodeFrame(function.name(), function.file(), function.line(), function.image(), function);
    }

    /// Code without probes.
    public static CodeFrame of(String name, String image) {
        return new CodeFrame(name, null, 0, image, null);
    }
}
