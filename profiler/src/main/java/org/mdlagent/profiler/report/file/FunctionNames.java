package org.mdlagent.profiler.report.file;

import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.SourceLine;

/// Names of functions that were recorded without one, as `image+0x1234`, for when the debug file stripped
/// from their image becomes available; and source lines of code.
public interface FunctionNames {
    /// No names.
    FunctionNames NONE = new FunctionNames() {
        @Override
        public @Nullable Found find(String image, String build, long offset) {
            return null;
        }

        @Override
        public @Nullable Found around(String image, String build, long offset) {
            return null;
        }
    };

    /// @param name   demangled
    /// @param symbol as in the symbol table
    record Found(String name, String symbol) {}

    /// The name of a function, null if unknown.
    ///
    /// @param image  path of its ELF file
    /// @param build  build id of the image, never empty
    /// @param offset its link-time address
    @Nullable
    Found find(String image, String build, long offset);

    /// The name of the function that contains code, functions with a symbol in the image included; null if
    /// unknown.
    ///
    /// @param offset link-time address of the code
    @Nullable
    Found around(String image, String build, long offset);

    /// The source lines of code; an element is null if unknown.
    ///
    /// @param build     build id of the image, never empty
    /// @param addresses link-time addresses, ascending
    default @Nullable SourceLine[] lines(String image, String build, long[] addresses) {
        return new SourceLine[addresses.length];
    }

    /// The prefix of a placeholder symbol, which gives a function's location instead of its name.
    private static String prefix(String image) {
        return image.substring(image.lastIndexOf('/') + 1) + "+0x";
    }

    /// The link-time address of a function without a name; -1 if it has one.
    ///
    /// @param image path of its ELF file
    static long unnamed(String image, String symbol) {
        String prefix = prefix(image);
        if (!symbol.startsWith(prefix) || symbol.length() == prefix.length()) {
            return -1;
        }
        try {
            return Long.parseLong(symbol, prefix.length(), symbol.length(), 16);
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
