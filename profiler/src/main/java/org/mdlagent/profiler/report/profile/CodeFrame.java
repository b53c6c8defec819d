package org.mdlagent.profiler.report.profile;

import org.jspecify.annotations.Nullable;

/// Code on call paths: a function's, with or without probes.
///
/// @param name     demangled, or what stands for it where it is not known
/// @param file     source file, null when unknown
/// @param line     in that file, 0 when unknown
/// @param image    path of the ELF file, "" where the code is in none
/// @param function the one with probes that it is of, null where that has none
public record CodeFrame(
        String name,
        @Nullable String file,
        int line,
        String image,
        @Nullable FunctionProfile function) {
    /// In place of the outer part of paths that is not known.
    public static final CodeFrame CUT = special("[callers not known]");

    /// The agent's own.
    public static final CodeFrame PROBES = special("[probes]");

    /// In no image, and no file tells what it is.
    public static final CodeFrame ELSEWHERE = special("[unknown code]");

    private static CodeFrame special(String name) {
        return new CodeFrame(name, null, 0, "", null);
    }

    public static CodeFrame of(FunctionProfile function) {
        return new CodeFrame(function.name(), function.file(), function.line(), function.image(), function);
    }

    /// That of code without probes.
    public static CodeFrame of(String name, String image) {
        return new CodeFrame(name, null, 0, image, null);
    }
}
