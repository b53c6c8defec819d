package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.shim.LoadedImage;
import org.mdlagent.arch.site.SiteInstruction;

/// Code compiled with `-fpatchable-function-entry=N,M` (GCC manual, "Program Instrumentation Options"): N
/// bytes of NOPs at each function's entry, M of them before it. GCC makes them one byte long, Clang as long
/// as it can.
///
/// A site needs five bytes inside the function, or two inside and five before it.
public final class PatchableEntryProvider implements ProbeProvider {
    static final String SECTION = "__patchable_function_entries";

    /// Maximum bytes of NOPs before a function.
    private static final int ROOM_MAX = 65535;

    private static final Set<SiteInstruction.Form> NOPS =
            Set.of(SiteInstruction.Form.NOP, SiteInstruction.Form.NOP_RUN, SiteInstruction.Form.NOP_SHORT);

    private final InstructionSet instructions;
    private final FunctionSelection selection;

    public PatchableEntryProvider(InstructionSet instructions, FunctionSelection selection) {
        this.instructions = instructions;
        this.selection = selection;
    }

    @Override
    public @Nullable ImageProbes discover(
            LoadedImage image, ElfFile elf, StackArguments.Image arguments, List<String> notes) throws IOException {
        long[] recorded = LoadedSection.addresses(SECTION, image, elf);
        if (recorded.length == 0) {
            return null;
        }
        LoadedRanges ranges = new LoadedRanges(image, elf);
        EntrySites sites = new EntrySites(image, elf, instructions, selection.of(image, elf), arguments);
        int unknown = 0;
        for (long address : recorded) {
            long function = functionOf(address, ranges);
            if (function == 0) {
                unknown++;
                continue;
            }
            int room = Math.toIntExact(Math.max(0, function - address));
            sites.addFirst(SiteInstruction.Role.FUNCTION, function, room, NOPS);
        }
        if (unknown > 0) {
            notes.add(image.path() + ": " + unknown
                    + " patchable functions left alone: neither symbols nor unwind tables say where they start");
        }
        if (sites.cramped() > 0) {
            notes.add(image.path() + ": " + sites.cramped() + " patchable functions left alone: no room for a jump,"
                    + " compile with -fpatchable-function-entry=5");
        }
        return sites.toProbes();
    }

    /// The function whose NOPs begin at `address`: before it, at its start, or after its landing pad.
    private long functionOf(long address, LoadedRanges ranges) {
        long around = ranges.functionAround(address);
        if (around != 0) {
            return address == around || address == instructions.search().firstInstruction(around) ? around : 0;
        }
        long next = ranges.functionFrom(address);
        return next - address <= ROOM_MAX ? next : 0;
    }
}
