package org.mdlagent.profiler.report.file;

import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.SourceLine;

/// Names of functions that had none when they were recorded, as `image+0x1234` says: where the file that was stripped
/// from their image can be had since. And the source lines of code.
public interface FunctionNames {
    /// There are none.
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

    /// The name of a function, null where it is not known.
    ///
    /// @param image  path of its ELF file
    /// @param build  id of its build, never empty
    /// @param offset its address at link time
    @Nullable
    Found find(String image, String build, long offset);

    /// The same of the function that code is in. Functions that the image itself names are told, too.
    ///
    /// @param offset address of the code at link time
    @Nullable
    Found around(String image, String build, long offset);

    /// The source lines of code, null for what is not known.
    ///
    /// @param build     id of the image's build, never empty
    /// @param addresses at link time, in ascending order
    default @Nullable SourceLine[] lines(String image, String build, long[] addresses) {
        return new SourceLine[addresses.length];
    }

    /// What a symbol is that says where a function is, for want of a name.
    private static String prefix(String image) {
        return image.substring(image.lastIndexOf('/') + 1) + "+0x";
    }

    /// The address at link time of a function that has no name; -1 when it has one.
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
