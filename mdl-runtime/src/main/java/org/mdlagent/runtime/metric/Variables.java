package org.mdlagent.runtime.metric;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.SymbolTable;
import org.mdlagent.runtime.mdl.request.Symbol;

/// Global variables of the program's own image. Variables of libraries are excluded, because unloading could
/// remove them while snippets read them.
final class Variables {
    private static final long PAGE = 4096;

    /// The running file, even if its path has been replaced.
    private static final Path IMAGE = Path.of("/proc/thread-self/exe");

    /// Functions of the image, address by symbol, which reveal its load bias.
    private final Map<String, Long> functions = new HashMap<>();

    /// Adds a function of the image.
    void add(String symbol, long address) {
        functions.put(symbol, address);
    }

    /// The variable with a name, or null. Assumed to be signed, as C's integers are.
    @Nullable
    Symbol find(String name) {
        try (ElfFile file = ElfFile.open(IMAGE)) {
            SymbolTable symbols = file.symbols();
            SymbolTable.Variable variable = symbols.variable(name);
            Long bias = bias(symbols);
            return variable == null || bias == null || variable.size() > Integer.MAX_VALUE
                    ? null
                    : new Symbol(name, variable.address() + bias, (int) variable.size(), true);
        } catch (IOException e) {
            return null; // as without symbols
        }
    }

    /// Load bias, or null if no function reveals it.
    private @Nullable Long bias(SymbolTable symbols) {
        for (int i = 0; i < symbols.size(); i++) {
            Long address = functions.get(symbols.name(i));
            if (address != null && (address - symbols.start(i)) % PAGE == 0) {
                return address - symbols.start(i);
            }
        }
        return null;
    }
}
