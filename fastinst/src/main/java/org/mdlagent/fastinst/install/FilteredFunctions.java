package org.mdlagent.fastinst.install;

import java.io.IOException;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.SymbolTable;
import org.mdlagent.arch.shim.LoadedImage;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.fastinst.provider.FunctionSelection;

/// Applies a filter to functions, by their names, which are assigned here. If the filter uses source files,
/// all functions are selected, because reading line tables takes the addresses of their sites.
public final class FilteredFunctions implements FunctionSelection {
    private final NativeApi api;
    private final ProbeFilter filter;

    public FilteredFunctions(NativeApi api, ProbeFilter filter) {
        this.api = api;
        this.filter = filter;
    }

    /// Which of a function's calls are timed.
    @Nullable
    Tier tier(String image, String file, String name) {
        return filter.tier(image, file, name);
    }

    @Override
    public boolean names(String image) {
        return filter.names(image);
    }

    @Override
    public LongPredicate of(LoadedImage image, ElfFile elf) throws IOException {
        boolean all = filter.includesAll() || filter.needsFiles();
        SymbolTable symbols = all ? null : elf.symbols();
        String path = image.path();
        return address -> symbols == null || included(path, address, symbols, "") != null;
    }

    /// The name of a function that the filter includes; of several names, the most informative. Null when it
    /// includes none.
    ///
    /// @param file source file, "" when unknown
    @Nullable
    String included(String image, long offset, SymbolTable symbols, String file) {
        int at = symbols.at(offset);
        if (at < 0) {
            String symbol = symbol(image, offset, symbols);
            return filter.includes(image, file, symbol) ? symbol : null;
        }
        String first = symbols.name(at);
        if (filter.includes(image, file, name(first))) {
            return first;
        }
        if (symbols.nameCount(at) > 1) {
            for (String symbol : symbols.names(at)) {
                if (filter.includes(image, file, name(symbol))) {
                    return symbol;
                }
            }
        }
        return null;
    }

    /// The symbol from the symbol table; if there is none, the file and the offset.
    static String symbol(String image, long offset, SymbolTable symbols) {
        int at = symbols.at(offset);
        return at >= 0
                ? symbols.name(at)
                : image.substring(image.lastIndexOf('/') + 1) + "+0x" + Long.toHexString(offset);
    }

    /// Demangled name.
    String name(String symbol) {
        return api.demangle(symbol);
    }
}
