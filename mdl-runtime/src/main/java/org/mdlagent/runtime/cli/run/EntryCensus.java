package org.mdlagent.runtime.cli.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.elf.DynamicSection;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.Segment;
import org.mdlagent.arch.shim.MemoryMap;
import org.mdlagent.arch.site.EntryPun;
import org.mdlagent.arch.site.EntryPuns;
import org.mdlagent.arch.site.LengthDecoder;
import org.mdlagent.arch.site.Refusal;
import org.mdlagent.arch.site.StackUse;
import org.mdlagent.fastinst.provider.FunctionEntries;
import org.mdlagent.fastinst.provider.KeptFacts;
import org.mdlagent.fastinst.provider.KeyedRuntime;
import org.mdlagent.fastinst.provider.StackArguments;

/// How many functions of a file compiled without probes can have some, on this processor. Whether memory at a
/// jump's targets is free is known only when the program runs.
///
/// @param functions all functions found
/// @param single    functions whose first instruction has room for a jump
/// @param several   functions in which a jump replaces several instructions
/// @param cut       of these, functions in which the jump straddles atomic units
/// @param counted   functions whose calls are only counted, by reason
/// @param longer    functions of at least [#LONGER_BYTES], with or without possible probes
/// @param probedLonger of these, functions that can be probed
/// @param functionBytes of the code of all functions
/// @param probedBytes of the code of functions that can be probed
/// @param codeBytes of all code in the file
/// @param runtime   whose functions are only counted, or left alone; null for none
/// @param refused   functions left alone, by reason
record EntryCensus(
        int functions,
        int single,
        int several,
        int cut,
        Map<String, Integer> counted,
        int longer,
        int probedLonger,
        long functionBytes,
        long probedBytes,
        long codeBytes,
        @Nullable KeyedRuntime runtime,
        Map<String, Integer> refused) {
    static final int LONGER_BYTES = 32;

    private static final String C_LIBRARY = "libc.so.6";

    /// @param demangler of C++ names
    /// @param covered what happens to threads stopped at instructions that a jump covers
    /// @param kept keeps what is found in the file's code; null: nothing
    static EntryCensus of(
            ElfFile elf,
            LengthDecoder decoder,
            UnaryOperator<String> demangler,
            EntryPuns.Covered covered,
            @Nullable KeptFacts kept)
            throws IOException {
        InstructionSet instructions = InstructionSet.host();
        try (StackArguments proof =
                new StackArguments(instructions.search(), decoder, demangler, known -> libraries(elf))) {
            return of(FunctionEntries.of(elf, instructions.search(), proof.add(elf, kept)), elf, decoder, covered);
        }
    }

    /// The libraries that the file needs, directly or indirectly: those beside it, and those beside the C
    /// library of this process.
    private static List<ElfFile> libraries(ElfFile elf) throws IOException {
        List<Path> directories = new ArrayList<>();
        directories.add(Path.of(elf.name()).toAbsolutePath().resolveSibling(""));
        for (MemoryMap.Region region : MemoryMap.read().regions()) {
            if (region.path().endsWith("/" + C_LIBRARY)) {
                directories.add(Path.of(region.path()).resolveSibling(""));
            }
        }
        List<ElfFile> opened = new ArrayList<>();
        Set<String> seen = new HashSet<>();
        Deque<ElfFile> next = new ArrayDeque<>(List.of(elf));
        while (!next.isEmpty()) {
            DynamicSection dynamic = next.remove().dynamic();
            for (String name : dynamic == null ? List.<String>of() : dynamic.needed()) {
                Path path = directories.stream()
                        .map(directory -> directory.resolve(name))
                        .filter(Files::isRegularFile)
                        .findFirst()
                        .orElse(null);
                if (seen.add(name) && path != null) {
                    ElfFile library = ElfFile.open(path);
                    opened.add(library);
                    next.add(library);
                }
            }
        }
        return opened;
    }

    private static EntryCensus of(
            FunctionEntries entries, ElfFile elf, LengthDecoder decoder, EntryPuns.Covered covered) throws IOException {
        InstructionSet instructions = InstructionSet.host();
        Map<String, Integer> refused = new TreeMap<>();
        Map<String, Integer> counted = new TreeMap<>();
        int single = 0;
        int several = 0;
        int cut = 0;
        int longer = 0;
        int probedLonger = 0;
        long functionBytes = 0;
        long probedBytes = 0;
        for (int i = 0; i < entries.size(); i++) {
            int isLonger = entries.length(i) >= LONGER_BYTES ? 1 : 0;
            longer += isLonger;
            functionBytes += entries.length(i);
            switch (entries.entry(i, instructions.puns(), decoder, covered)) {
                case EntryPun pun -> {
                    probedLonger += isLonger;
                    probedBytes += entries.length(i);
                    cut += pun.cut() == null ? 0 : 1;
                    StackUse.Reason reason = entries.runtime() == null ? entries.countedFor(i) : null;
                    if (reason != null) {
                        counted.merge(reason.text(), 1, Integer::sum);
                    }
                    if (pun.leadsAnywhere()) {
                        single++;
                    } else {
                        several++;
                    }
                }
                case Refusal refusal -> refused.merge(refusal.reason(), 1, Integer::sum);
            }
        }
        long codeBytes =
                elf.executableSegments().stream().mapToLong(Segment::fileSize).sum();
        return new EntryCensus(
                entries.size(),
                single,
                several,
                cut,
                counted,
                longer,
                probedLonger,
                functionBytes,
                probedBytes,
                codeBytes,
                entries.runtime(),
                refused);
    }
}
