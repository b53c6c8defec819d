package org.mdlagent.runtime.cli.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.elf.DynamicSection;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.ElfFormatException;
import org.mdlagent.arch.elf.SymbolTable;
import org.mdlagent.arch.site.CodeSearch;
import org.mdlagent.fastinst.provider.Instrumentation;
import org.mdlagent.fastinst.provider.ProfilingCallsProvider;

/// Properties of a program that are known before it runs.
///
/// @param kind         type of the file
/// @param dynamic      whether the dynamic linker loads it, so that a library can be preloaded
/// @param library      whether it is a shared library, which cannot be executed
/// @param otherLibc    whether its libc is not glibc, so that the agent steps aside
/// @param instrumentation how it, or a library beside it, was compiled; null when there is nothing to probe
/// @param gprof        whether it is linked with `-pg`, so that its profiling calls are left to gprof
/// @param debugInfo    whether it has line tables, or separate ones are installed
/// @param sanitizer    `ASan`, `TSan`, `MSan` or null
/// @param java         whether it hosts a JVM
/// @param setUser      whether it has the set-user-ID bit
record ProgramFile(
        Path path,
        Kind kind,
        boolean dynamic,
        boolean library,
        boolean otherLibc,
        @Nullable Instrumentation instrumentation,
        boolean gprof,
        boolean debugInfo,
        @Nullable String sanitizer,
        boolean java,
        boolean setUser) {

    enum Kind {
        ELF,
        /// 32 bits, or for another processor.
        FOREIGN_ELF,
        /// For instance a script, which may start programs that are worth measuring.
        OTHER
    }

    private static final int MAGIC = 0x7f454c46;
    private static final CodeSearch SEARCH = InstructionSet.host().search();

    /// Type of the segment that names the dynamic linker.
    private static final int INTERPRETER = 3;

    /// Finds a program as `execvp` does: along `PATH` unless it is a path. Null if there is none.
    static @Nullable Path find(String program, @Nullable String searchPath) {
        if (program.indexOf('/') >= 0) {
            return Files.exists(Path.of(program)) ? Path.of(program) : null;
        }
        String path = searchPath == null ? "/bin:/usr/bin" : searchPath;
        int start = 0;
        while (start <= path.length()) {
            int end = path.indexOf(':', start);
            end = end < 0 ? path.length() : end;
            Path candidate = Path.of(path.substring(start, end), program);
            if (Files.isRegularFile(candidate) && Files.isExecutable(candidate)) {
                return candidate;
            }
            start = end + 1;
        }
        return null;
    }

    static ProgramFile examine(Path path) throws IOException {
        boolean setUser = ((Integer) Files.getAttribute(path, "unix:mode") & 06000) != 0;
        if (!isElf(path)) {
            return new ProgramFile(path, Kind.OTHER, false, false, false, null, false, false, null, false, setUser);
        }
        try (ElfFile elf = ElfFile.open(path)) {
            DynamicSection dynamic = elf.dynamic();
            boolean interpreted = elf.segments().stream().anyMatch(segment -> segment.type() == INTERPRETER);
            if (dynamic == null) {
                return new ProgramFile(
                        path,
                        Kind.ELF,
                        false,
                        false,
                        false,
                        Instrumentation.of(elf, SEARCH),
                        false,
                        hasLines(elf),
                        null,
                        false,
                        setUser);
            }
            List<String> needed = dynamic.needed();
            return new ProgramFile(
                    path,
                    Kind.ELF,
                    interpreted,
                    !interpreted && dynamic.soname() != null,
                    needed.stream().anyMatch(ProgramFile::isMusl),
                    instrumentation(elf, libraries(path, needed)),
                    ProfilingCallsProvider.startsGprof(elf),
                    hasLines(elf),
                    sanitizer(dynamic),
                    needed.stream().anyMatch(name -> name.startsWith("libjvm.so") || name.startsWith("libjli.so")),
                    setUser);
        } catch (ElfFormatException e) {
            return new ProgramFile(
                    path, Kind.FOREIGN_ELF, false, false, false, null, false, false, null, false, setUser);
        }
    }

    /// The names of its functions, as in its symbol table.
    static List<String> functions(Path path) throws IOException {
        if (!isElf(path)) {
            return List.of();
        }
        try (ElfFile elf = ElfFile.open(path)) {
            SymbolTable symbols = elf.symbols();
            List<String> names = new ArrayList<>();
            for (int i = 0; i < symbols.size(); i++) {
                names.add(symbols.name(i));
            }
            return names;
        }
    }

    private static boolean isElf(Path path) throws IOException {
        try (var in = Files.newInputStream(path)) {
            byte[] head = in.readNBytes(4);
            return head.length == 4 && (head[0] << 24 | head[1] << 16 | head[2] << 8 | head[3]) == MAGIC;
        }
    }

    private static @Nullable Instrumentation instrumentation(ElfFile program, List<Path> libraries) throws IOException {
        Instrumentation found = Instrumentation.of(program, SEARCH);
        for (int i = 0; found == null && i < libraries.size(); i++) {
            try (ElfFile library = ElfFile.open(libraries.get(i))) {
                found = Instrumentation.of(library, SEARCH);
            } catch (IOException e) {
                // An unreadable library does not decide whether this program is worth measuring.
            }
        }
        return found;
    }

    /// The program's libraries in its own directories; system libraries are not compiled with probes.
    private static List<Path> libraries(Path program, List<String> needed) {
        List<Path> found = new ArrayList<>();
        Path directory = program.toAbsolutePath().resolveSibling("");
        for (String name : needed) {
            for (String place : new String[] {".", "lib", "../lib", ".libs"}) {
                Path candidate = directory.resolve(place).resolve(name);
                if (Files.isRegularFile(candidate, LinkOption.NOFOLLOW_LINKS) || Files.isSymbolicLink(candidate)) {
                    found.add(candidate);
                }
            }
        }
        return found;
    }

    /// Whether a library is musl, by the names of its builds and distributions; glibc's is `libc.so.6`.
    private static boolean isMusl(String library) {
        return library.equals("libc.so") || library.startsWith("libc.musl-");
    }

    private static boolean hasLines(ElfFile elf) throws ElfFormatException {
        return elf.lines() != null;
    }

    private static @Nullable String sanitizer(DynamicSection dynamic) throws ElfFormatException {
        if (uses(dynamic, "libasan.so", "__asan_init")) {
            return "ASan";
        }
        if (uses(dynamic, "libtsan.so", "__tsan_init")) {
            return "TSan";
        }
        return uses(dynamic, "libmsan.so", "__msan_init") ? "MSan" : null;
    }

    private static boolean uses(DynamicSection dynamic, String library, String symbol) throws ElfFormatException {
        return dynamic.needed().stream().anyMatch(name -> name.startsWith(library))
                || dynamic.imports(symbol)
                || dynamic.defines(symbol);
    }
}
