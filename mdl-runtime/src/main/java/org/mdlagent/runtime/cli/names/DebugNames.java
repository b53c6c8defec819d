package org.mdlagent.runtime.cli.names;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.DebugFile;
import org.mdlagent.arch.elf.DwarfLines;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.SourceLine;
import org.mdlagent.arch.elf.SymbolTable;
import org.mdlagent.profiler.report.file.FunctionNames;
import org.mdlagent.runtime.cli.context.Installation;
import org.mdlagent.runtime.cli.terminal.Console;

/// Names from debug files. They are searched in this order: the image's own, if it still has one
/// ([ElfFile#debugFile]); that of its build below `/usr/lib/debug`; the symbols left in the image
/// ([MiniDebugInfo]); and files from a server ([DebugServers]). The first file with symbols is taken for all
/// of them.
///
/// Unreadable files are skipped. The target process does not do this: it would read, unpack and keep data
/// that it does not need for measuring.
public final class DebugNames implements FunctionNames {
    /// A build id from a session becomes part of a path, so it must match.
    private static final Pattern BUILD = Pattern.compile("[0-9a-f]{4,128}");

    private final DebugServers servers;
    private final boolean fetches;
    private final Consumer<String> messages;
    private final Map<String, Build> builds = new HashMap<>();
    private final Path demanglerLibrary;
    private @Nullable Demangler demangler;

    /// @param demangler the library that comes with the installation
    /// @param fetches  whether to ask servers; otherwise only cached files are used
    /// @param messages receives requests to servers, and defects of files
    public DebugNames(Map<String, String> environment, Path demangler, boolean fetches, Consumer<String> messages) {
        this.demanglerLibrary = demangler;
        this.servers = DebugServers.of(environment, messages);
        this.fetches = fetches;
        this.messages = messages;
    }

    /// With files on this machine and from servers.
    public static DebugNames fetching(Console console) {
        return of(true, message -> console.say(message, null));
    }

    /// With files on this machine only.
    public static DebugNames present(Console console) {
        return of(false, message -> console.say(message, null));
    }

    private static DebugNames of(boolean fetches, Consumer<String> messages) {
        return new DebugNames(System.getenv(), Installation.ofProcess().demangler(), fetches, messages);
    }

    /// The functions of a build that have been looked up, and code in others.
    ///
    /// @param symbols null if there are none
    /// @param own     symbols of the image itself, null until they are needed
    private record Build(
            @Nullable SymbolTable symbols,
            Map<Long, @Nullable Found> found,
            Map<Long, @Nullable Found> around,
            Map<String, @Nullable SymbolTable> own) {}

    @Override
    public @Nullable Found find(String image, String build, long offset) {
        Build known = build(image, build);
        SymbolTable symbols = known.symbols();
        return symbols == null ? null : known.found().computeIfAbsent(offset, at -> found(symbols, symbols.at(offset)));
    }

    @Override
    public @Nullable Found around(String image, String build, long offset) {
        Build known = build(image, build);
        SymbolTable symbols = known.symbols();
        if (symbols == null) {
            symbols = known.own().computeIfAbsent(image, path -> ownSymbols(path, build));
        }
        SymbolTable table = symbols;
        return table == null
                ? null
                : known.around().computeIfAbsent(offset, at -> found(table, table.containing(offset)));
    }

    @Override
    public @Nullable SourceLine[] lines(String image, String build, long[] addresses) {
        if (BUILD.matcher(build).matches()) {
            try (ElfFile file = DebugFile.open(path(image), build);
                    ElfFile apart = file == null ? DebugFile.of(build) : null) {
                ElfFile known = file == null ? apart : file;
                DwarfLines lines = known == null ? null : known.lines();
                if (lines != null) {
                    return lines.at(addresses);
                }
            } catch (IOException e) {
                messages.accept(e.getMessage());
            }
        }
        return new SourceLine[addresses.length];
    }

    private Build build(String image, String build) {
        Build known = builds.get(build);
        if (known == null) {
            SymbolTable symbols = BUILD.matcher(build).matches() ? symbols(image, build) : null;
            known = new Build(symbols, new HashMap<>(), new HashMap<>(), new HashMap<>());
            builds.put(build, known);
        }
        return known;
    }

    private @Nullable Found found(SymbolTable symbols, int function) {
        if (function < 0) {
            return null;
        }
        Demangler known = demangler;
        if (known == null) {
            known = new Demangler(demanglerLibrary);
            demangler = known;
        }
        String symbol = symbols.name(function);
        return new Found(known.demangle(symbol), symbol);
    }

    private @Nullable SymbolTable ownSymbols(String image, String build) {
        try (ElfFile file = DebugFile.open(path(image), build)) {
            return symbols(file);
        } catch (IOException e) {
            messages.accept(e.getMessage());
            return null;
        }
    }

    private @Nullable SymbolTable symbols(String image, String build) {
        SymbolTable symbols = null;
        try (ElfFile file = DebugFile.open(path(image), build)) {
            symbols = file == null ? null : symbols(file.debugFile());
            if (symbols == null) {
                symbols = closing(DebugFile.of(build));
            }
            if (symbols == null && file != null) {
                symbols = symbols(MiniDebugInfo.of(file));
            }
        } catch (IOException e) {
            messages.accept(e.getMessage());
        }
        if (symbols == null) {
            Path fetched = servers.file(image, build, fetches);
            symbols = fetched == null ? null : ofFile(fetched, build);
        }
        return symbols;
    }

    private static Path path(String image) throws IOException {
        try {
            return Path.of(image);
        } catch (InvalidPathException e) {
            throw new IOException("the session is damaged: " + e.getMessage(), e);
        }
    }

    private @Nullable SymbolTable ofFile(Path path, String build) {
        try {
            return closing(Files.isReadable(path) ? DebugFile.open(path, build) : null);
        } catch (IOException e) {
            messages.accept(e.getMessage());
            return null;
        }
    }

    private static @Nullable SymbolTable closing(@Nullable ElfFile file) throws IOException {
        try (file) {
            return symbols(file);
        }
    }

    /// Null if there are no functions.
    private static @Nullable SymbolTable symbols(@Nullable ElfFile file) throws IOException {
        SymbolTable symbols = file == null ? null : file.symbols();
        return symbols == null || symbols.size() == 0 ? null : symbols;
    }
}
