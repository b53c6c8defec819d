package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.code.OffsetTable;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.SymbolTable;
import org.mdlagent.arch.shim.LoadedImage;

/// Maps offsets in an image's code to its probed functions. Compilers move parts of a function elsewhere and
/// make copies of it, whose symbols are the function's with a suffix (`f.cold`, `f.part.0`, `f.constprop.1`).
public final class FunctionRanges {
    /// No probed function.
    public static final int NONE = -1;

    private final LoadedRanges code;

    /// Bias of the addresses in `code`, which may be those of an earlier placement.
    private final long bias;

    private final int[] functions;

    private FunctionRanges(LoadedRanges code, long bias) {
        this.code = code;
        this.bias = bias;
        functions = new int[code.size()];
    }

    /// @param functions index of each probed function's record by the offset of its address
    public static FunctionRanges of(LoadedImage image, ElfFile elf, OffsetTable functions) throws IOException {
        SymbolTable symbols = elf.symbols();
        FunctionRanges ranges = new FunctionRanges(new LoadedRanges(image, elf), image.bias());
        Map<Integer, String> parts = new HashMap<>();
        for (int i = 0; i < ranges.size(); i++) {
            long start = ranges.start(i);
            ranges.functions[i] = functions.get(start, NONE);
            String whole = functions.contains(start) ? "" : partOf(symbols, start);
            if (!whole.isEmpty()) {
                parts.put(i, whole);
            }
        }
        if (!parts.isEmpty()) {
            Map<String, Integer> bySymbol = bySymbol(symbols, functions, Set.copyOf(parts.values()));
            parts.forEach((i, name) -> ranges.functions[i] = bySymbol.getOrDefault(name, NONE));
        }
        return ranges;
    }

    /// Functions with the same name, such as local functions of several source files, cannot be
    /// distinguished.
    ///
    /// @param wanted the names to look up
    private static Map<String, Integer> bySymbol(SymbolTable symbols, OffsetTable functions, Set<String> wanted) {
        Map<String, Integer> bySymbol = new HashMap<>();
        functions.forEach((offset, index) -> {
            int symbol = symbols.at(offset);
            String name = symbol < 0 ? "" : symbols.name(symbol);
            if (wanted.contains(name)) {
                bySymbol.merge(name, index, (one, other) -> NONE);
            }
        });
        return bySymbol;
    }

    /// The symbol of the function that a piece of code is part of, from its own symbol; "" if that does not
    /// tell.
    private static String partOf(SymbolTable symbols, long start) {
        int symbol = symbols.at(start);
        if (symbol < 0 || !symbols.hasInside(symbol, '.')) {
            return "";
        }
        String name = symbols.name(symbol);
        return name.substring(0, name.indexOf('.', 1));
    }

    /// Bytes of the code that starts at `offset`, 0 if unknown.
    public long length(long offset) {
        int found = find(offset);
        return found < 0 || start(found) != offset ? 0 : code.length(found);
    }

    /// Index of the function that contains the code at `offset`; [#NONE] if it has no probes or is unknown.
    public int at(long offset) {
        int found = find(offset);
        return found < 0 ? NONE : functions[found];
    }

    public int size() {
        return functions.length;
    }

    private long start(int number) {
        return code.start(number) - bias;
    }

    /// The pieces of code in ascending order, numbered from 0.
    public Range get(int number) {
        long start = start(number);
        return new Range(start, start + code.length(number), functions[number]);
    }

    /// The piece of code that contains `offset`.
    @Nullable
    public Range around(long offset) {
        int found = find(offset);
        return found < 0 ? null : get(found);
    }

    private int find(long offset) {
        return code.find(offset + bias);
    }

    /// One piece of code.
    ///
    /// @param start    offset of its first byte
    /// @param end      offset one past its last byte
    /// @param function that it belongs to, or [#NONE]
    public record Range(long start, long end, int function) {}
}
