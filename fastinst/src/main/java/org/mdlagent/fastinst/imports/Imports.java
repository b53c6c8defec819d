package org.mdlagent.fastinst.imports;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.shim.LoadedImage;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.MemoryMap;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.site.StackUse;
import org.mdlagent.fastinst.provider.EntrySites;
import org.mdlagent.fastinst.provider.LoadedArguments;

/// Functions of libraries without probes, such as libc's, probed where the program calls them. Such calls go
/// through words that the dynamic linker fills. When a function is requested, a stub is made that has a site,
/// as probed functions have, and continues in the library. Then these words are redirected to the stub,
/// permanently. Nothing in the library is changed.
///
/// Assumes
///   A1 a word of a linkage table, and one that code only calls or jumps through, is not compared with anything
///   A2 images that were there when the program started are not closed (glibc: `dlclose` does not close them)
/// Guarantees
///   G1 a thread calls the library's function, through the stub or not
///   G2 other words with the function's address keep the value from the dynamic linker; calls through them are
///      not seen, and images that may make some are reported
/// Progress
///   P1 the dynamic linker stores the function's address at the program's first call of it, perhaps right after
///      us: [#confirm] finds that
public final class Imports {
    private static final Set<String> OWN_CONVENTIONS = Set.of(
            "__tls_get_addr", "__fentry__", "_mcount", "mcount", "__cyg_profile_func_enter", "__cyg_profile_func_exit");

    private static final int ATTEMPTS = 3;

    private final NativeApi api;
    private final CodeMemory code;
    private final InstructionSet instructions;
    private final ImportStubs stubs;

    private final String shim;
    private List<LoadedImage> first = List.of();

    /// The words of the program's images, except the C library's; null until they have been read.
    private @Nullable List<ImportWords> callers;

    private final Map<String, Function> functions = new HashMap<>();

    /// The target of each changed word.
    private final Map<Long, Change> changes = new HashMap<>();

    /// @param before the value that the dynamic linker stores
    private record Change(long before, long stub) {}

    /// A library function that the program calls.
    ///
    /// @param probe  at its entry; the probe at its return has the next number
    /// @param image  path of the library
    /// @param hidden images that may call it through pointers, which its probes do not see
    public record Function(String name, int probe, String image, Set<String> hidden) {}

    public Imports(NativeApi api, CodeMemory code, InstructionSet instructions, ImportStubs stubs) {
        this.api = api;
        this.code = code;
        this.instructions = instructions;
        this.stubs = stubs;
        shim = api.libraryDirectory() + "/libmdlagent.so";
    }

    /// Sets the images that were there when the program started.
    public void first(List<LoadedImage> images) {
        first = List.copyOf(images);
    }

    private List<ImportWords> callers() {
        List<ImportWords> found = callers;
        if (found == null) {
            found = new ArrayList<>();
            for (LoadedImage image : first) {
                ImportWords words = isSystems(image) ? null : ImportWords.read(instructions, image);
                if (words != null) {
                    found.add(words);
                }
            }
            callers = found;
        }
        return found;
    }

    /// Calls between the C library and the dynamic linker are internal to the system.
    private static boolean isSystems(LoadedImage image) {
        String name = Path.of(image.path()).getFileName().toString();
        return name.startsWith("libc.so") || name.startsWith("ld-linux");
    }

    /// Symbols that the program imports from libraries.
    public Set<String> symbols() {
        Set<String> symbols = new TreeSet<>();
        callers().forEach(image -> symbols.addAll(image.symbols()));
        return symbols;
    }

    /// A function, ready for snippets; null when the program does not call it in a library without probes, or
    /// when it must return directly to its caller's address.
    ///
    /// @throws IllegalStateException when the session is full
    /// @throws IllegalArgumentException when the function may have arguments on the stack, with the reason
    /// @throws IOException when code memory is refused
    public @Nullable Function of(String symbol) throws IOException {
        Function known = functions.get(symbol);
        List<ImportWords> calling =
                callers().stream().filter(image -> !image.of(symbol).isEmpty()).toList();
        if (known != null || calling.isEmpty() || isExcluded(symbol)) {
            return known;
        }
        long target = target(calling.getFirst(), symbol);
        MemoryMap memory = MemoryMap.read();
        String library = library(target, memory);
        boolean isCallers = calling.stream().anyMatch(image -> image.path().equals(library));
        if (library == null || isCallers || code.hasAlias(target)) {
            return null;
        }
        requireArgumentsInRegisters(symbol, target, memory);
        ImportStubs.Stub stub = stubs.make(symbol, library, target);
        Set<String> hidden = new TreeSet<>();
        for (ImportWords image : calling) {
            for (long word : image.of(symbol)) {
                boolean changed = image.isOnlyCalled(word)
                        && target(image, symbol) == target
                        && change(image, word, target, stub.address(), memory);
                if (!changed) {
                    hidden.add(image.path());
                }
            }
        }
        Function made = new Function(symbol, stub.probe(), library, hidden);
        functions.put(symbol, made);
        return made;
    }

    /// A probe's words on the stack would separate a function from arguments there.
    ///
    /// @throws IllegalArgumentException when the function may have some
    private void requireArgumentsInRegisters(String symbol, long target, MemoryMap memory) throws IOException {
        MemoryMap.Region region = memory.at(target);
        if (region == null) {
            return;
        }
        for (LoadedImage image : api.images()) {
            MemoryMap.Region headers = memory.at(image.headers());
            if (headers != null && headers.path().equals(region.path())) {
                StackUse.Reason reason = LoadedArguments.reason(api, instructions.search(), image, target);
                if (reason != null) {
                    throw new IllegalArgumentException(symbol + " is left alone: " + reason.text());
                }
                return;
            }
        }
    }

    private long target(ImportWords image, String symbol) {
        return api.findSymbol(symbol, image.version(symbol));
    }

    /// Path of the library as the dynamic linker names it, null when it was not there when the program
    /// started. Functions that the shim interposes count as the C library's.
    private @Nullable String library(long address, MemoryMap memory) {
        MemoryMap.Region region = memory.at(address);
        String path = region == null ? "" : region.path();
        for (LoadedImage image : first) {
            MemoryMap.Region headers = memory.at(image.headers());
            boolean isInterposed = path.equals(shim) && isSystems(image);
            if (isInterposed || headers != null && !path.isEmpty() && path.equals(headers.path())) {
                return image.path();
            }
        }
        return null;
    }

    /// Whether it must return directly to its caller's address, or has its own calling convention.
    private static boolean isExcluded(String symbol) {
        return EntrySites.EXCLUDED.contains(symbol) || OWN_CONVENTIONS.contains(symbol);
    }

    /// A word with another value leads to a function of that name elsewhere, and is not changed.
    private boolean change(ImportWords image, long word, long target, long stub, MemoryMap memory) {
        for (int i = 0; i < ATTEMPTS; i++) {
            long held = Memory.getLongAcquire(word);
            if (held != target && !image.isUnresolved(held)) {
                return false;
            }
            if (exchange(word, held, stub, memory)) {
                changes.put(word, new Change(target, stub));
                return true;
            }
        }
        return false;
    }

    private boolean exchange(long word, long held, long value, MemoryMap memory) {
        MemoryMap.Region region = memory.at(word);
        return region != null && api.exchangeImport(word, held, value, !region.writable()) == 1;
    }

    /// Changes words again that the dynamic linker has stored to since. To be called periodically.
    public void confirm() throws IOException {
        for (Map.Entry<Long, Change> one : changes.entrySet()) {
            Change change = one.getValue();
            if (Memory.getLongAcquire(one.getKey()) == change.before) {
                boolean unused = exchange(one.getKey(), change.before, change.stub, MemoryMap.read());
            }
        }
    }
}
