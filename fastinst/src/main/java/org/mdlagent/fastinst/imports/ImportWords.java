package org.mdlagent.fastinst.imports;

import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.elf.DynamicSection;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.Relocation;
import org.mdlagent.arch.elf.Segment;
import org.mdlagent.arch.shim.LoadedImage;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.fastinst.provider.LoadedFile;

/// The words of one image in which the dynamic linker stores addresses of other images' functions.
final class ImportWords {
    private final InstructionSet instructions;
    private final LoadedImage image;
    private final List<Segment> code;

    /// By symbol.
    private final Map<String, Set<Long>> words = new HashMap<>();

    private final Map<String, String> versions = new HashMap<>();

    /// Words of linkage tables, which are used only for calls.
    private final Set<Long> linkage = new HashSet<>();

    /// Words that code may call through or load.
    private final Set<Long> globals = new HashSet<>();

    private @Nullable Set<Long> loaded;

    private ImportWords(InstructionSet instructions, LoadedImage image, ElfFile elf, DynamicSection dynamic)
            throws IOException {
        this.instructions = instructions;
        this.image = image;
        code = elf.executableSegments();
        for (DynamicSection.Import imported : dynamic.imports()) {
            Relocation slot = imported.slot();
            long word = image.bias() + slot.address();
            words.computeIfAbsent(slot.symbol(), key -> new HashSet<>()).add(word);
            versions.put(slot.symbol(), imported.version());
            if (slot.type() == elf.machine().jumpSlot()) {
                linkage.add(word);
            } else if (slot.type() == elf.machine().globalData()) {
                globals.add(word);
            }
        }
    }

    /// @return null when the image calls no other image, or its file cannot be read
    static @Nullable ImportWords read(InstructionSet instructions, LoadedImage image) {
        try (ElfFile elf = LoadedFile.open(image)) {
            DynamicSection dynamic = elf.dynamic();
            return dynamic == null ? null : new ImportWords(instructions, image, elf, dynamic);
        } catch (IOException e) {
            return null;
        }
    }

    String path() {
        return image.path();
    }

    Set<String> symbols() {
        return words.keySet();
    }

    Set<Long> of(String symbol) {
        return words.getOrDefault(symbol, Set.of());
    }

    /// The version of the symbol that the image requires, "" for any.
    String version(String symbol) {
        return versions.getOrDefault(symbol, "");
    }

    /// Whether the program only calls the address in a word and does not compare it.
    boolean isOnlyCalled(long word) {
        return linkage.contains(word) || globals.contains(word) && !loaded().contains(word);
    }

    private Set<Long> loaded() {
        Set<Long> found = loaded;
        if (found == null) {
            found = new HashSet<>();
            for (Segment segment : code) {
                long start = image.bias() + segment.address();
                byte[] bytes = Memory.copy(start, Math.toIntExact(segment.fileSize()));
                found.addAll(instructions.search().loaded(bytes, start, globals));
            }
            loaded = found;
        }
        return found;
    }

    /// Whether an address is in the image's own code, as in words that the dynamic linker has not resolved
    /// yet.
    boolean isUnresolved(long address) {
        return code.stream().anyMatch(segment -> segment.contains(address - image.bias()));
    }
}
