package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.elf.CfaRule;
import org.mdlagent.arch.elf.EhFrame;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.Section;
import org.mdlagent.arch.shim.LoadedImage;
import org.mdlagent.arch.shim.NativeApi;

/// Code that no compiler has prepared: functions as the unwind tables know them, at whose entry a jump can take the
/// place of the first instructions.
///
/// What does not begin with its return address on top of the stack is no function that is called, but a part of one
/// that was moved elsewhere.
public final class BareEntryProvider implements ProbeProvider {
    /// The stack pointer, as DWARF numbers registers (System V ABI, figure 3.36).
    private static final int RSP = 7;

    /// The table of functions that Go's runtime has.
    private static final String GO_FUNCTIONS = ".gopclntab";

    /// libc, the dynamic linker, the unwinder, and what the agent brings along.
    private static final List<String> SYSTEM =
            List.of("libc.so", "libc-", "ld-linux", "ld-2", "libgcc_s", "libunwind", "libmdlagent", "libjvm", "libZy");

    private static final CfaRule AT_ENTRY = new CfaRule.RegisterOffset(RSP, Long.BYTES);

    private final NativeApi api;
    private final InstructionSet instructions;
    private final LoadedImage program;
    private final Predicate<String> named;

    /// @param program the image whose functions are probed so
    /// @param named   whether those of another image are, by its path
    public BareEntryProvider(NativeApi api, InstructionSet instructions, LoadedImage program, Predicate<String> named) {
        this.api = api;
        this.instructions = instructions;
        this.program = program;
        this.named = named;
    }

    @Override
    public @Nullable ImageProbes discover(LoadedImage image, ElfFile elf, List<String> notes) throws IOException {
        EhFrame frames = elf.ehFrame();
        if (frames == null || !image.equals(program) && !named.test(image.path())) {
            return null;
        }
        if (isOfTheSystem(image)) {
            notes.add(image.path() + ": left alone: it runs while signals are blocked, or looks at return addresses");
            return null;
        }
        if (elf.section(GO_FUNCTIONS) != null) {
            notes.add(image.path() + ": left alone: Go moves stacks, and blocks signals without libc");
            return null;
        }
        EntrySites sites = new EntrySites(image, elf, instructions);
        long[] starts = new long[frames.size()];
        for (int i = 0; i < starts.length; i++) {
            starts[i] = frames.start(i);
        }
        CfaRule[] rules = frames.cfaAt(starts);
        int found = 0;
        for (int i = 0; i < starts.length; i++) {
            if (rules[i].equals(AT_ENTRY) && starts[i] != elf.entry() && !isLinkage(starts[i], elf)) {
                long next = i + 1 < starts.length ? starts[i + 1] : Long.MAX_VALUE;
                sites.addBare(api, frames, i, next);
                found++;
            }
        }
        if (sites.cramped() > 0) {
            notes.add(image.path() + ": " + sites.cramped() + " of " + found
                    + " functions left alone: no jump can take the place of their first instructions");
        }
        return sites.toProbes();
    }

    /// Whether threads execute it that cannot trap, or frames are walked in it.
    private static boolean isOfTheSystem(LoadedImage image) {
        String name = image.path().substring(image.path().lastIndexOf('/') + 1);
        return SYSTEM.stream().anyMatch(name::startsWith);
    }

    /// Whether what the linker has made stands at an address: it passes on to others, or is a part of what libc calls.
    private static boolean isLinkage(long address, ElfFile elf) throws IOException {
        for (Section section : elf.sections()) {
            if (address - section.address() >= 0 && address - section.address() < section.size()) {
                String name = section.name();
                if (name.startsWith(".plt") || name.equals(".init") || name.equals(".fini")) {
                    return true;
                }
            }
        }
        return false;
    }
}
