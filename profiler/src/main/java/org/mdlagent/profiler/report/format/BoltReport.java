package org.mdlagent.profiler.report.format;

import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.code.FunctionCopy.Arc.Kind;
import org.mdlagent.arch.elf.SymbolTable;
import org.mdlagent.profiler.report.profile.FunctionBlocks;

/// Branches for `llvm-bolt -data`, in its text format (`DataReader.h` of BOLT): for each branch that was
/// taken a line `1 SYMBOL OFFSET 1 SYMBOL OFFSET MISPREDICTED COUNT`, offsets in hexadecimal.
/// Mispredictions are not known, so they are 0. Calls by pointers come from `[unknown]`.
///
/// BOLT calls a local symbol `NAME/FILE/1`, by the file of the symbol table. Of several with the same name
/// and file, only the first one has a profile.
public final class BoltReport {
    private static final String UNKNOWN = "0 [unknown] 0";

    private BoltReport() {}

    /// @param functions of an image
    /// @param symbols   of its file
    public static void write(List<FunctionBlocks> functions, SymbolTable symbols, Appendable out) throws IOException {
        Places places = new Places(symbols);
        Map<String, Long> entries = new TreeMap<>();
        Map<String, Long> branches = new TreeMap<>();
        for (FunctionBlocks function : functions) {
            for (FunctionBlocks.Arc arc : function.arcs()) {
                FunctionBlocks.Way way = arc.way();
                boolean isInside = way.to() != FunctionBlocks.OUTSIDE;
                String from = isBranch(way) ? places.of(way.from()) : null;
                String to = places.of(isInside ? way.to() : way.target());
                if (arc.count() > 0 && from != null && to != null) {
                    branches.merge(from + " " + to, arc.count(), Math::addExact);
                    if (!isInside) {
                        entries.merge(to, -arc.count(), Math::addExact);
                    }
                } else if (way.kind() == Kind.ENTRY && to != null) {
                    entries.merge(to, arc.count(), Math::addExact);
                }
            }
        }
        entries.forEach((to, count) -> {
            if (count > 0) {
                branches.put(UNKNOWN + " " + to, count);
            }
        });
        for (Map.Entry<String, Long> branch : branches.entrySet()) {
            out.append(branch.getKey())
                    .append(" 0 ")
                    .append(branch.getValue().toString())
                    .append('\n');
        }
    }

    private static boolean isBranch(FunctionBlocks.Way way) {
        return way.from() != FunctionBlocks.OUTSIDE
                && (way.kind() == Kind.JUMP || way.kind() == Kind.COMPUTED || way.kind() == Kind.CALL);
    }

    /// Names code as BOLT does.
    private static final class Places {
        private final SymbolTable symbols;
        private final Map<Integer, String> names = new HashMap<>();
        private final Set<String> taken = new HashSet<>();

        Places(SymbolTable symbols) {
            this.symbols = symbols;
            for (int function = 0; function < symbols.size(); function++) {
                String name = symbols.name(function);
                String file = symbols.file(function);
                String known = file == null ? name : name + (file.isEmpty() ? "" : "/" + file) + "/1";
                if (taken.add(known)) {
                    names.put(function, known.replace("\\", "\\\\").replace(" ", "\\ "));
                }
            }
        }

        /// Null if the address is in no function that has a name of its own.
        @Nullable
        String of(long address) {
            int function = address == 0 ? -1 : symbols.containing(address);
            String name = names.get(function);
            return name == null ? null : "1 " + name + " " + Long.toHexString(address - symbols.start(function));
        }
    }
}
