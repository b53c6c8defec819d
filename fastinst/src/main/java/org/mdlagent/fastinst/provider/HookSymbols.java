package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.elf.DynamicSection;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.Relocation;
import org.mdlagent.arch.elf.Section;
import org.mdlagent.arch.shim.LoadedImage;
import org.mdlagent.arch.shim.Memory;

/// The addresses in memory that stand for hooks with certain names in one image.
///
/// @param addresses linkage stubs
/// @param slots     words with the address of a hook
record HookSymbols(long[] addresses, long[] slots) {
    static final HookSymbols NONE = new HookSymbols(new long[0], new long[0]);

    boolean isEmpty() {
        return addresses.length == 0 && slots.length == 0;
    }

    /// The hooks that the image imports.
    static HookSymbols imported(InstructionSet instructions, LoadedImage image, ElfFile elf, Set<String> names)
            throws IOException {
        DynamicSection dynamic = elf.dynamic();
        return dynamic == null ? NONE : of(instructions, image, elf, dynamic.slotsOf(names));
    }

    /// The hooks whose addresses the dynamic linker stores in these slots.
    static HookSymbols of(InstructionSet instructions, LoadedImage image, ElfFile elf, List<Relocation> slotsOfHooks)
            throws IOException {
        if (slotsOfHooks.isEmpty()) {
            return NONE;
        }
        long[] slots = slotsOfHooks.stream()
                .mapToLong(slot -> image.bias() + slot.address())
                .toArray();
        List<Long> stubs = new ArrayList<>();
        for (Section section : elf.sections()) {
            if (section.name().startsWith(".plt")) {
                long start = image.bias() + section.address();
                byte[] code = Memory.copy(start, Math.toIntExact(section.size()));
                for (long slot : slots) {
                    stubs.addAll(instructions.search().linkageStubs(code, start, slot));
                }
            }
        }
        return new HookSymbols(stubs.stream().mapToLong(Long::longValue).toArray(), slots);
    }
}
